"""The table of look-alike letters that `sanitize` and the guard share."""

import unicodedata

from coreloop.base.letters import LOOK_ALIKES, plain_letters


def test_small_letters_fold_to_what_they_look_like_and_not_to_their_capitals():
    assert [plain_letters(char) for char in "νηυӏ"] == ["v", "n", "u", "l"]


def test_capitals_of_other_scripts_fold_though_casefolding_makes_them_small():
    for plain in "ABEHKMOPTX":
        for alike in LOOK_ALIKES[plain]:
            if unicodedata.name(alike).startswith(("CYRILLIC", "CHEROKEE")):
                assert plain_letters(alike) == plain.lower(), unicodedata.name(alike)
