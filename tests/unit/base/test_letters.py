"""The table of look-alike letters of `sanitize`."""

from coreloop.base.letters import LOOK_ALIKES


def test_a_letter_stands_for_one_plain_letter_only():
    alikes = [alike for row in LOOK_ALIKES.values() for alike in row]
    assert len(alikes) == len(set(alikes))


def test_a_look_alike_of_a_letter_is_a_letter_that_is_not_ascii():
    assert not [alike for row in LOOK_ALIKES.values() for alike in row if alike.isascii()]
