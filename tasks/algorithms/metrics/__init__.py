"""How good an evaluation finds it: rankings, answers, how sure a mean is.

It imports the rooms `questions` and `text`, and how answers are compared.
"""
