"""One verb of the command line a file. `main` is where a person enters."""
