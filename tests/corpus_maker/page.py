"""product_page.html: a page of the company's web site, with a script and a remote picture that no reader may touch."""

from __future__ import annotations

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>MT-3 tidal turbine | Merrow Tidal Systems</title>
<link rel="stylesheet" href="https://static.merrow-tidal.example/site.css">
<script src="https://static.merrow-tidal.example/count.js"></script>
<script>document.title = "script was run"; document.write("SCRIPT-WAS-RUN");</script>
</head>
<body>
<nav><a href="/">Home</a> <a href="/turbines">Turbines</a> <a href="/service">Service</a> <a href="/contact">Contact</a></nav>
<main>
<h1>MT-3 tidal turbine</h1>
<p>The MT-3 turns a current of 2.6 metres per second into two megawatts. It stands on the sea bed on its own weight, needs no
piles, and comes up for service in one piece within ninety minutes.</p>
<img src="https://static.merrow-tidal.example/mt3.jpg" alt="An MT-3 on the quay at Port Ellary, its rotor against the evening sky">
<h2>Why operators choose it</h2>
<ul>
<li>Starts at 0.8 metres per second, so it runs for 21 hours a day at most sites.</li>
<li>Three blades with the Slipfin coating, guaranteed clean over 90 per cent of their length for a year.</li>
<li>Quiet: 118 decibels at one metre, less than a fishing boat.</li>
</ul>
<h2>Technical data</h2>
<table>
<caption>Table 1: MT-3 in numbers</caption>
<thead><tr><th>Property</th><th>Value</th></tr></thead>
<tbody>
<tr><td>Rated power</td><td>2.0 MW at 2.6 m/s</td></tr>
<tr><td>Rotor diameter</td><td>23 m</td></tr>
<tr><td>Weight without base</td><td>163 t</td></tr>
<tr><td>Weight of the base</td><td>540 t</td></tr>
<tr><td>Depth of water</td><td>40 to 60 m</td></tr>
<tr><td>Design life</td><td>25 years</td></tr>
<tr><td>Export voltage</td><td>11 kV</td></tr>
</tbody>
</table>
<h2>Installing it</h2>
<ol>
<li>Survey of the sea bed, two days at neap tide.</li>
<li>Lowering of the base with its cable tail.</li>
<li>Lowering of the turbine on four guide wires.</li>
<li>Trial run of 240 hours, after which the turbine is yours.</li>
</ol>
<h2>Price and delivery</h2>
<p>An MT-3 costs 6.9 million pounds without base and cable. Delivery takes fourteen months from the order.
Ask <a href="mailto:sales@merrow-tidal.example">our sales office</a> for an offer.</p>
</main>
<footer><p>Merrow Tidal Systems plc, The Net Loft, 4 Pilot Quay, Port Ellary</p></footer>
</body>
</html>
"""


def make() -> bytes:
    """The page as UTF-8."""
    return PAGE.encode()
