"""The README's and the docs' Python runs as it is printed; the examples run too."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from sido.cli.main import main

ROOT = Path(__file__).resolve().parents[1]


def snippets(document: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), flags=re.DOTALL)


DOCUMENTS = ("README.md", "docs/data_formats.md", "docs/evaluation.md", "docs/policies.md", "docs/training.md")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_snippets_run(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIDO_CACHE", str(tmp_path / "cache"))
    assert main(["synthesize", "stack.hdf5", "--demos", "5", "--image-size", "16"]) == 0
    found = snippets(document)
    assert found
    names: dict[str, object] = {}
    for snippet in found:
        exec(compile(snippet, document, "exec"), names)


def test_every_command_of_the_readme_exists(capsys: pytest.CaptureFixture[str]):
    commands = re.findall(r"(?:^|`)sido (\w+)", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    assert {"inspect", "augment", "convert"} <= set(commands)
    for verb in set(commands):
        with pytest.raises(SystemExit):
            main([verb, "--help"])
    capsys.readouterr()


def test_the_first_look_runs(tmp_path: Path):
    command = [sys.executable, str(ROOT / "examples" / "first_look.py"), str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "displaced" in said
    assert (tmp_path / "counterfactuals.png").stat().st_size > 10_000
