"""How good an evaluation finds it: rankings, answers, how sure a mean is; probes of a corpus.

It imports the rooms `questions`, `layout` and `text`, and how answers are compared.
"""
