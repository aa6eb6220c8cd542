# SPDX-License-Identifier: GPL-3.0-or-later
"""Which encoding the texts of a table are in. Nothing in the file says so; the whole table has one.

Most bytes are valid text in several of them, so what counts is whether the text would be one: each encoding has the
characters that make up about half of any text of its language, and is rated by their share.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .table import Texts, blocks
from .table_encoding import ENCODINGS, codec_of

if TYPE_CHECKING:
    from .table import Table

# Where there is nothing but ASCII: the game's own.
DEFAULT = "cp949"
# Bytes of texts that are looked at.
_ENOUGH = 1 << 16

# The most frequent syllables and characters of each language, in running text and in the words of a game.
_KOREAN = set(
    "이다는을를의에가고하지로은사기한어도시나서자인그아게리라대수있보정만들부여해전일제장상동주요오스소우성원신생비마무조트드"
    "러공격레용물회증방력퀘템화크치세계구입착능복효과니습십"
)
_SIMPLIFIED = set(
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民"
    "得经三之进等部度家力里如水化高自二理起小物现量都两体制机当使点从业本去把性好应开合还因由其些然前外天四日那社义事平形相"
    "全表间样与关各重新线内数正心反你明看原又么利比级攻击防御技能装备任务获得伤害魔法战士骑士"
)
_TRADITIONAL = set(
    "的一是在不了有和人這中大為上個國我以要他時來用們生到作地於出就分對成會可主發年動同工也能下過子說產種面而方後多定行學法所民"
    "得經三之進等部度家力裡如水化高自二理起小物現量都兩體制機當使點從業本去把性好應開合還因由其些然前外天四日那社義事平形相"
    "全表間樣與關各重新線內數正心反你明看原又麼利比級攻擊防禦技能裝備任務獲得傷害魔法戰士騎士"
)
_THAI = re.compile("[\u0e01-\u0e3a\u0e40-\u0e5b]")
# A vowel or tone above or below the line needs a consonant before it; none begins a word.
_THAI_MARK_ALONE = re.compile(
    "(?:^|[^\u0e01-\u0e2e\u0e31\u0e34-\u0e3a\u0e47-\u0e4e])[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]", re.MULTILINE
)
_THAI_MARK = re.compile("[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_HAN = re.compile("[\u4e00-\u9fff]")
_WESTERN = re.compile("[A-Za-z][À-ÖØ-öø-ÿŒœŠšŽž’]|[À-ÖØ-öø-ÿŒœŠšŽž¡¿“‘«][A-Za-z ]")  # noqa: RUF001
_HIGH = re.compile("[^\x00-\x7f]")


def guess(table: Table) -> str:
    """One of `ENCODINGS`: the likeliest for all texts and column names of a table."""
    return guess_bytes(_sample(table))


def _sample(table: Table) -> bytes:
    """Texts that are not plain ASCII, one per line, up to some size."""
    found = [column.name for column in table.columns]
    left = _ENOUGH
    for column in table.columns:
        cells = column.cells
        if not isinstance(cells, Texts):
            continue
        for rows in blocks([cells], len(cells), _ENOUGH):
            raw = cells.take(rows).joined(0x0A)
            if raw.isascii():
                continue
            lines = dict.fromkeys(line for line in raw.split(b"\n") if not line.isascii())
            part = b"\n".join(lines)
            # Whole lines: a character that is cut in two would speak against its own encoding.
            found.append(part if len(part) <= left else part[:left].rpartition(b"\n")[0] or part.split(b"\n", 1)[0])
            left -= len(part)
            if left <= 0:
                return b"\n".join(found)
    return b"\n".join(found)


def guess_bytes(raw: bytes) -> str:
    """One of `ENCODINGS`: the likeliest for a text of some lines."""
    if raw.isascii():
        return DEFAULT
    rated = {encoding: _rating(raw, encoding) for encoding in ENCODINGS}
    return max(rated, key=lambda encoding: rated[encoding])


def _rating(raw: bytes, encoding: str) -> float:
    """How much `raw` looks like a text in this encoding; the share of what fits, less the lines that cannot be it."""
    lines = [line for line in raw.decode(codec_of(encoding), "replace").split("\n") if not line.isascii()]
    good = [line for line in lines if "\ufffd" not in line]
    bad = 1.0 - len(good) / len(lines)
    text = "\n".join(good)
    high = _HIGH.findall(text)
    if not high:
        return -3.0 * bad
    # Hardly any text in another encoding happens to be sound UTF-8.
    return (2.5 if encoding == "utf-8" else _fitting(text, high, encoding)) - 3.0 * bad


def _fitting(text: str, high: list[str], encoding: str) -> float:
    if encoding == "tis-620":
        # Every high byte is a Thai letter or sign, so the letters say little; the signs stand where they may, or not.
        alone = len(_THAI_MARK_ALONE.findall(text)) / len(high)
        signs = len(_THAI_MARK.findall(text)) / len(high)
        return 0.2 * len(_THAI.findall(text)) / len(high) + min(3.0 * signs, 0.8) - 8.0 * alone
    if encoding == "windows-1252":
        # Letters with accents stand among plain ones; where most bytes are high it is another script.
        plain = sum(char.isalpha() and char.isascii() for char in text)
        return 0.8 * len(_WESTERN.findall(text)) / len(high) if plain > len(high) else -1.0
    # A few rare words alone: the game's own language is the likeliest.
    frequent, script, start = {
        "cp949": (_KOREAN, _HANGUL, 0.3),
        "gb18030": (_SIMPLIFIED, _HAN, 0.2),
        "big5": (_TRADITIONAL, _HAN, 0.15),
    }[encoding]
    common = sum(char in frequent for char in high)
    return (2.0 * common + start * len(script.findall(text))) / len(high)
