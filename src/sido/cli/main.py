"""`sido`: the command line."""

from __future__ import annotations

import os
import sys

from sido.errors import SidoError

__all__ = ["main"]

_DESCRIPTION = """Static In, Dynamic Out: train on static demonstrations, grasp moving objects.

Start with `sido inspect PATH` on the demonstrations that you have, or make a few with `sido synthesize`.
"""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 when all went well, 1 when a dataset has problems, 2 for an error, 130 for Ctrl-C."""
    try:
        code = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()  # here, where a pipe that is closed can still be dealt with
        return code
    except SidoError as error:
        return _failed(str(error))
    except BrokenPipeError:  # of `sido inspect ... | head`: whoever read has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        if error.filename is None:
            raise
        return _failed(f"{error.filename}: {error.strerror}")
    except KeyboardInterrupt:
        print("stopped; nothing was left half written", file=sys.stderr)
        return 130


def _run(arguments: list[str]) -> int:
    """Imports the commands here, where Ctrl-C is listened to: they take a while."""
    if arguments == ["--version"]:
        return _version()
    import tyro

    from sido.cli.augment import augment
    from sido.cli.collect import collect
    from sido.cli.convert import convert
    from sido.cli.evaluate import evaluate
    from sido.cli.inspect import inspect
    from sido.cli.play import play
    from sido.cli.policy import policy
    from sido.cli.predictor import predictor
    from sido.cli.probe import probe
    from sido.cli.report import report
    from sido.cli.reproduce import reproduce
    from sido.cli.study import study
    from sido.cli.synthesize import synthesize
    from sido.cli.train import train
    from sido.cli.view import view

    return tyro.extras.subcommand_cli_from_dict(
        {
            "collect": collect,
            "inspect": inspect,
            "augment": augment,
            "convert": convert,
            "synthesize": synthesize,
            "train": train,
            "policy": policy,
            "play": play,
            "view": view,
            "evaluate": evaluate,
            "predictor": predictor,
            "probe": probe,
            "reproduce": reproduce,
            "report": report,
            "study": study,
        },
        prog="sido",
        description=_DESCRIPTION,
        args=arguments,
    )


def _version() -> int:
    from sido.release import versions

    told = versions(("torch", "mujoco", "robosuite"))
    sido, commit = told.pop("sido"), told.pop("commit")
    changed = "+" if commit.endswith("+") else ""
    others = "".join(f", {name} {version}" for name, version in told.items() if version)
    print(f"sido {sido}{f' ({commit[:12]}{changed})' if commit else ''}{others}")
    return 0


def _failed(what: str) -> int:
    from rich.console import Console
    from rich.markup import escape

    Console(stderr=True, soft_wrap=True).print(f"[bold red]error:[/] {escape(what)}")
    return 2


if __name__ == "__main__":
    sys.exit(main())
