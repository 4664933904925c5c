"""English words that say nothing by themselves: function words, and verbs that any subject takes."""

from __future__ import annotations

_WORDS = """
a about above according across after again against all almost along already also although always am among an and another any are
around as at away back be became because become becomes been before began begin behind being below best better between both but
by came can cannot come comes could did do does doing done down due during each either else enough especially etc even ever
every example few first following for found from further gave general generally get gets give given gives go goes going got had
has have having he hence her here hers herself him himself his how however i if in include included includes including indeed
instead into is it its itself just keep kept know known large largely last later least less let like likely long made mainly
make makes making many may me mean means might mine more moreover most mostly much must my myself namely near nearly need needs
neither never new next no none nor not note nothing now of off often on once one only onto or other others otherwise our ours
ourselves out over overall own part particular particularly per perhaps please possible put quite rather really respectively
said same saw say says second see seem seems seen set several shall she should show showed shown shows similar similarly simply
since so some something sometimes still such take taken takes taking than that the their theirs them themselves then there
thereby therefore these they thing things this those though three through throughout thus to together too took toward towards
two under unless until up upon us use used uses using usually various very via want was way ways we well went were what whatever
when where whereas whether which while who whole whom whose why will with within without would yet you your yours yourself don't
doesn't didn't isn't aren't wasn't weren't can't couldn't won't wouldn't it's i'm i've we're we've you're they're that's e.g i.e
et al fig figure figures table tables page pages section chapter vs
"""

STOP_WORDS = frozenset(_WORDS.split())
"""All in lower case."""
