"""A walk leaves out what programs made: reports of coreloop and caches."""

from indexing import Indexed

MADE = {
    "shared/report/.coreloop-report": "",
    "shared/report/index.html": "<p>aardvark</p>",
    "cache/CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n",
    "cache/README.md": "# aardvark\n",
}


def test_what_programs_made_is_not_indexed(project: Indexed):
    project.write(
        {"docs/a.md": "# Text\n", "shared/notes.md": "# Text\n", "scratch/a.md": "# Text\n", **MADE}
    )
    assert project.update().counts == {"added": 3}
    assert project.locations("aardvark") == []


def test_a_folder_that_is_named_is_read_all_the_same(project: Indexed):
    project.write(MADE)
    assert project.update("cache").counts == {"added": 1}
