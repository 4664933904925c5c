"""How good an evaluation finds it: rankings, answers, how sure a mean is.

It imports the rooms text and questions.
"""
