"""The books of Merrow Tidal Systems plc, a company that does not exist.

Every document takes its numbers from here, so that they agree with one another.
"""

from __future__ import annotations

from dataclasses import dataclass

NAME = "Merrow Tidal Systems plc"
QUARTERS = ("Q1", "Q2", "Q3", "Q4")

# Energy delivered in 2024 in GWh, by quarter. The annual report shows it in a picture only.
ENERGY_GWH = {
    "Corran Sound": (14.2, 12.1, 12.8, 15.3),
    "Fenwick Narrows": (10.7, 9.2, 9.9, 11.4),
    "Sula Race": (12.9, 11.3, 11.8, 14.6),
    "Braye Channel": (5.1, 4.6, 4.9, 6.2),
}
# What each site should have delivered in the third quarter, in GWh: the scanned slides compare it with ENERGY_GWH.
THIRD_QUARTER_TARGET_GWH = {"Corran Sound": 12.5, "Fenwick Narrows": 9.6, "Sula Race": 12.4, "Braye Channel": 5.3}

# Revenue in millions of pounds: (2023, 2024).
REVENUE = {
    "Turbine sales": (81.9, 98.4),
    "Service and maintenance": (38.5, 46.7),
    "Energy sales": (25.4, 31.2),
    "Licences": (6.5, 8.3),
}
TOTAL_REVENUE = (152.3, 184.6)

AVAILABILITY_PERCENT = {"2019": 88.4, "2020": 90.1, "2021": 91.7, "2022": 93.6, "2023": 94.2}
EMPLOYEES = {"Port Ellary works": 418, "Braye yard": 212, "Corran service base": 137, "Sula service base": 96, "Design office": 71}


@dataclass(frozen=True, slots=True)
class Site:
    """A place with turbines: code, number of turbines, their model, rated power of one in MW, month and year of the first."""

    name: str
    code: str
    turbines: int
    model: str
    rated_mw: float
    since: str


SITES = (
    Site("Corran Sound", "CS", 14, "MT-2", 1.2, "March 2016"),
    Site("Fenwick Narrows", "FN", 10, "MT-2", 1.2, "June 2018"),
    Site("Sula Race", "SR", 8, "MT-3", 2.0, "May 2021"),
    Site("Braye Channel", "BC", 6, "MT-2", 1.2, "October 2022"),
)
TURBINES = sum(site.turbines for site in SITES)
RATED_MW = sum(site.turbines * site.rated_mw for site in SITES)

# CS-09 stood still while its gearbox was changed; the reports speak of it.
BROKEN_TURBINE, BROKEN_AVAILABILITY, BROKEN_GWH = "CS-09", 71.4, 2.87


@dataclass(frozen=True, slots=True)
class Turbine:
    """One turbine's year: availability in per cent, energy in GWh."""

    name: str
    site: Site
    availability: float
    energy_gwh: float


def _site_turbines(site: Site) -> list[Turbine]:
    """The turbines of a site; their energies add up to the site's four quarters."""
    names = [f"{site.code}-{number:02d}" for number in range(1, site.turbines + 1)]
    total = round(sum(ENERGY_GWH[site.name]), 2)
    broken = BROKEN_GWH if BROKEN_TURBINE in names else 0.0
    mean = (total - broken) / (site.turbines - (1 if broken else 0))
    energies = [
        BROKEN_GWH if name == BROKEN_TURBINE else round(mean * (1 + 0.021 * (place * 7 % 5 - 2)), 2)
        for place, name in enumerate(names)
    ]
    energies[-1] = round(energies[-1] + total - sum(energies), 2)
    base = 94.1 if site.code == "SR" else 96.6
    return [
        Turbine(name, site, BROKEN_AVAILABILITY if name == BROKEN_TURBINE else round(base + 0.3 * (place * 11 % 7 - 3), 1), energy)
        for place, (name, energy) in enumerate(zip(names, energies, strict=True))
    ]


FLEET = tuple(turbine for site in SITES for turbine in _site_turbines(site))
FLEET_AVAILABILITY = round(sum(turbine.availability for turbine in FLEET) / len(FLEET), 1)
TOTAL_ENERGY_GWH = round(sum(sum(quarters) for quarters in ENERGY_GWH.values()), 1)
