"""The network and the flow on it (papers/flowreader.txt, sections 3.4 and 3.5, appendix C).

It imports arrays and records, no words; every status of a solver is checked here.
"""
