"""What annual_report.pdf says, from the chair's letter to the addresses; long because it is prose."""

from __future__ import annotations

from collections.abc import Mapping

from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Flowable, PageBreak, Paragraph, Spacer

from corpus_maker import annual_report_accounts, charts, company
from corpus_maker.pdf_parts import Footnote, figure, picture, ruled_table, table_with_caption

Styles = dict[str, ParagraphStyle]
WIDTH = 453  # points between the margins
SEGMENTS = tuple(company.REVENUE)
TOTAL_2023, TOTAL_2024 = company.TOTAL_REVENUE


def story(pages: Mapping[str, str], styles: Styles) -> list[Flowable]:
    """The flowables after the contents; pages maps a section's number to the page number printed where it begins."""
    parts = [_letter, _business, _year, _fleet, _operations, _research, _people, _risks]
    flowables: list[Flowable] = []
    for part in parts:
        flowables += part(pages, styles)
    return flowables + annual_report_accounts.story(pages, styles)


def _prose(styles: Styles, *paragraphs: str) -> list[Flowable]:
    return [Paragraph(text, styles["body"]) for text in paragraphs]


def _points(styles: Styles, *points: str) -> list[Flowable]:
    return [*[Paragraph(text, styles["bullet"], bulletText="\u2022") for text in points], Spacer(1, 6)]


def _letter(pages: Mapping[str, str], s: Styles) -> list[Flowable]:
    return [
        Paragraph("Letter from the chair", s["h1"].clone("plain")),
        *_prose(
            s,
            "Dear shareholders,",
            "The moon is the most reliable supplier we have. It has never missed a delivery, and it has never raised its "
            "price. Everything between the "
            "moon and the customer, however, is ours to get right: blades that stay clean, gearboxes that stay dry, cables "
            "that stay where we laid them. "
            "This report tells you how well we did that in 2024.",
            "It was our best year so far. Revenue passed 180 million pounds for the first time, the fleet delivered "
            f"{company.TOTAL_ENERGY_GWH} GWh of "
            "electricity, and we ended the year with more orders in hand than in any year before. Profit for the year rose "
            "by more than half. The board "
            "proposes a dividend of 4.5 pence per share, after 3.0 pence for 2023.",
            "Not all went well. A gearbox in turbine CS-09 failed in February and stood idle for more than a quarter of the "
            "year, because the replacement "
            "had to wait for a vessel and then for a tide. And the coating trial at Sula Race cost more working days than we "
            "had allowed for. Both "
            f"stories are told without varnish in Section 3, which begins on page {pages.get('3', '0')}.",
            "In September the board chose the site for our next array. The turbines for it will be of a new kind, the MT-4, "
            "on which our engineers have "
            f"worked since 2021; Section 4.1 on page {pages.get('4.1', '0')} says what has been proved and what has not.",
            "I have chaired this board for nine years. At the annual meeting in May I shall hand over to Ingrid Falkenrath, "
            "who has led the audit "
            "committee since 2019 and who asks better questions than I do. It has been a privilege to wait for the tide with you.",
            "Tobias Wexcombe<br/>Chair<br/>Port Ellary, 11 March 2025",
        ),
        PageBreak(),
    ]


def _business(pages: Mapping[str, str], s: Styles) -> list[Flowable]:
    depths = {
        "Corran Sound": (470, 140, 38),
        "Fenwick Narrows": (830, 180, 31),
        "Sula Race": (850, 420, 46),
        "Braye Channel": (450, 480, 27),
    }
    return [
        Paragraph("1 Our company", s["h1"]),
        Paragraph("1.1 What we make", s["h2"]),
        *_prose(
            s,
            "Merrow Tidal Systems plc designs, builds and runs turbines that turn the current of the tide into electricity. "
            "We were founded in 2009 in a "
            "disused net loft at Port Ellary by three engineers and a retired harbour pilot. Today we make two models. The "
            "MT-2 is rated at 1.2 MW and "
            "has a rotor of 18 metres; the MT-3 is rated at 2.0 MW and has a rotor of 23 metres. Both stand on the sea bed "
            "on a gravity base and are "
            "lifted for service in one piece, so that no diver is ever needed below 20 metres.",
            "We earn money in four ways. We sell turbines to others who run arrays of their own. We service turbines, ours "
            "and theirs, under contracts "
            "of five to fifteen years. We sell the energy of the four arrays that we own. And we license our pitch bearing "
            "and our blade coating "
            "to makers of river turbines. Section 2.1 shows what each of the four brought in.",
        ),
        Paragraph("1.2 Where we work", s["h2"]),
        *_prose(
            s,
            "Our own arrays stand at four sites within sixty kilometres of one another, as Figure 1 shows: "
            f"{company.TURBINES} turbines with a rated "
            f"power of {company.RATED_MW:.1f} MW together. The depth of the water decides which model goes where. The MT-3 "
            "needs at least 40 metres to leave ships "
            "their clearance, and so far only one of the four sites offers that. The main works and the design office are at "
            "Port Ellary; large steel "
            "parts come from our yard at Braye.",
        ),
        figure(
            picture(charts.site_map(depths), 400),
            "Figure 1: The four sites, with the depth of water at lowest astronomical tide",
            s,
        ),
        Paragraph("1.3 Strategy", s["h2"]),
        *_prose(s, "We follow three aims, set by the board in 2022 and unchanged since:"),
        *_points(
            s,
            "bring the cost of tidal energy below 120 pounds per MWh by 2028, from 187 pounds in 2024;",
            "keep every turbine available for at least 96 per cent of the year;",
            "earn a third of our revenue from service by 2027, because service pays in years when nobody builds.",
        ),
        *_prose(
            s,
            "The first aim rests on the MT-4, the second on the work described in Section 3.2, and the third on contracts "
            "that are signed already: at the "
            "end of 2024 we served 61 turbines that belong to customers, eleven more than a year before.",
        ),
    ]


def _year(_: Mapping[str, str], s: Styles) -> list[Flowable]:
    growth = (TOTAL_2024 / TOTAL_2023 - 1) * 100
    revenue_rows = [
        ["Segment", "2024", "2023", "Change"],
        *[[name, f"{new:.1f}", f"{old:.1f}", f"{(new / old - 1) * 100:+.1f} %"] for name, (old, new) in company.REVENUE.items()],
        ["Total revenue", f"{TOTAL_2024:.1f}", f"{TOTAL_2023:.1f}", f"{growth:+.1f} %"],
    ]
    order_rows = [
        ["Customer", "Turbines", "Model", "Delivery", "Value"],
        ["Northhaven Power Cooperative", "6", "MT-3", "2025", "41.4"],
        ["Strait of Aldre Energy", "8", "MT-3", "2026", "56.0"],
        ["Tarn Island Council", "2", "MT-2", "2025", "8.6"],
        ["Quessant Maritime", "5", "MT-2", "2026", "20.5"],
        ["Service contracts", "61", "both", "to 2034", "73.2"],
        ["Total order book", "", "", "", "199.7"],
    ]
    segments = {"2023": [company.REVENUE[name][0] for name in SEGMENTS], "2024": [company.REVENUE[name][1] for name in SEGMENTS]}
    return [
        Paragraph("2 The year in numbers", s["h1"]),
        Paragraph("2.1 Revenue", s["h2"]),
        *_prose(
            s,
            f"Total revenue in 2024 was £{TOTAL_2024} million, {growth:.1f} per cent more than the £{TOTAL_2023} million of "
            "2023. Turbine sales brought in more "
            "than half of it. Service and maintenance grew a little faster than sales did, since every turbine that we "
            "deliver begins a contract. Table 1 gives "
            "the four segments, and Figure 2 sets the two years side by side.",
        ),
        *table_with_caption(
            "Table 1: Revenue by segment, in millions of pounds", ruled_table(revenue_rows, [190, 80, 80, 80], s, bold=[5]), s
        ),
        figure(
            picture(charts.bar_chart("Revenue by segment", "millions of pounds", SEGMENTS, segments, upper=100), 400),
            "Figure 2: Revenue by segment in 2023 and 2024",
            s,
        ),
        Paragraph("2.2 Energy delivered", s["h2"]),
        *_prose(
            s,
            f"Our own arrays delivered {company.TOTAL_ENERGY_GWH} GWh, 9.4 per cent more than in 2023. Tides are strongest "
            "around the equinoxes and in the winter months, "
            "when spring tides and storm surges meet; the summer is quiet. Figure 3 shows the four quarters at each site. "
            "The energy was sold at 187 pounds "
            "per MWh on average, under the support contract that runs until 2033."
            "<super>1</super>",
        ),
        Footnote(
            "1. The support contract guarantees 178 pounds per MWh in prices of 2020, raised each April by two thirds of the "
            "rise in consumer prices."
        ),
        figure(
            picture(
                charts.bar_chart("Energy delivered in 2024", "GWh per quarter", company.QUARTERS, company.ENERGY_GWH, upper=20), 400
            ),
            "Figure 3: Energy delivered per quarter at the four sites",
            s,
        ),
        Paragraph("2.3 Order book", s["h2"]),
        *_prose(
            s,
            "At 31 December 2024 the order book stood at £199.7 million, after £161.3 million a year before. Table 2 lists "
            "what is in it. The order of Strait of "
            "Aldre Energy, signed in November, is the largest that we have ever received. A letter of intent from the port "
            "of Lowrick for four further "
            "turbines is not included, because it may still be withdrawn.",
        ),
        *table_with_caption(
            "Table 2: Order book at 31 December 2024, values in millions of pounds",
            ruled_table(order_rows, [180, 60, 60, 70, 70], s, bold=[6]),
            s,
        ),
    ]


def _fleet(_: Mapping[str, str], s: Styles) -> list[Flowable]:
    rows = [["Turbine", "Site", "Model", "Rated MW", "Availability %", "Energy GWh"]]
    rows += [
        [t.name, t.site.name, t.site.model, f"{t.site.rated_mw:.1f}", f"{t.availability:.1f}", f"{t.energy_gwh:.2f}"]
        for t in company.FLEET
    ]
    rows += [
        [
            "Fleet",
            "four sites",
            "",
            f"{company.RATED_MW:.1f}",
            f"{company.FLEET_AVAILABILITY:.1f}",
            f"{company.TOTAL_ENERGY_GWH:.2f}",
        ]
    ]
    return [
        Paragraph("3 Operations", s["h1"]),
        Paragraph("3.1 The fleet", s["h2"]),
        *_prose(
            s,
            f"Table 3 lists all {company.TURBINES} turbines that we own, with the share of the year for which each was able "
            "to run and the energy that it delivered. "
            "The oldest, CS-01, has been in the water since March 2016 and has turned more than 21 million times. No turbine "
            "was added to the fleet in 2024 and "
            "none was taken out of it.",
        ),
        *table_with_caption(
            "Table 3: Turbines in service during 2024",
            ruled_table(rows, [62, 110, 52, 68, 84, 77], s, bold=[len(rows) - 1], words=3),
            s,
            split=True,
        ),
    ]


def _operations(pages: Mapping[str, str], s: Styles) -> list[Flowable]:
    years = company.AVAILABILITY_PERCENT | {"2024": company.FLEET_AVAILABILITY}
    safety_rows = [
        ["Measure", "2024", "2023", "2022"],
        ["Hours worked, thousands", "1,604", "1,498", "1,377"],
        ["Lost-time injuries", "2", "4", "3"],
        ["Injuries per million hours", "1.2", "2.7", "2.2"],
        ["Near misses reported", "187", "142", "96"],
        ["Dropped objects", "5", "6", "9"],
    ]
    return [
        Paragraph("3.2 Availability", s["h2"]),
        *_prose(
            s,
            f"The fleet was available for {company.FLEET_AVAILABILITY} per cent of the year, as Figure 4 shows, against our "
            "aim of 96 per cent. Two things kept us below it. "
            "The first was turbine CS-09. On 9 February its vibration alarm tripped; the oil sample held sea water and "
            "steel. A seal of the "
            "high-speed shaft, fitted at the service of 2022, had been cut on assembly. The gearbox had to be replaced, and "
            "the only vessel in our waters "
            "with a crane for 90 tonnes was under contract elsewhere until the middle of April. The turbine was back at work "
            "on 23 May. Since then every "
            "seal of that type has been inspected, and four more were found to be marked, though none of them leaked. The "
            "second was Sula Race, where "
            "each turbine was lifted once so that its blades could be given the new coating of which Section 4.2 speaks. A "
            "lift takes a neap "
            "tide of four days if the weather holds; in October it did not, and two turbines spent eleven days each on the "
            "quay. Without these two "
            "causes the fleet would have been available for 97.0 per cent of the year. We have since signed a charter that "
            "gives us first call on a crane "
            "vessel for sixty days a year until 2029, at a price of £3.1 million a year, which we expect to earn back "
            "whenever it spares us one failure like that of CS-09.",
        ),
        figure(
            picture(
                charts.line_chart(
                    "Availability of the fleet",
                    "per cent of the year",
                    list(years),
                    {"fleet": list(years.values())},
                    lower=80,
                    upper=100,
                ),
                390,
            ),
            "Figure 4: Availability of the fleet since 2019",
            s,
        ),
        Paragraph("3.3 Safety", s["h2"]),
        *_prose(
            s,
            "Two colleagues were hurt at work badly enough to miss a shift: one broke a wrist on a wet ladder at the Braye "
            "yard, the other was struck by a mooring line. Both "
            "have recovered. We count near misses with more pride than sorrow, since a near miss that is reported is an "
            "accident that is not repeated. Table 4 "
            "gives the figures of three years.",
        ),
        *table_with_caption("Table 4: Safety at work", ruled_table(safety_rows, [200, 75, 75, 75], s), s),
        Paragraph("3.4 Vessels and ports", s["h2"]),
        *_prose(
            s,
            "We own two vessels, the multicat <i>Annet</i> and the crew boat <i>Little Tern</i>, and charter the rest. In "
            "2024 our vessels burned 612,000 litres of fuel, 8 per cent less "
            "than in 2023, because the new base at Sula saves a voyage of three hours each way. The lift plan for 2025, "
            "which the board approved in December, foresees "
            f"nineteen lifts; the costs are part of the provision explained in Section 7.5 on page {pages.get('7.5', '0')}.",
        ),
    ]


def _research(_: Mapping[str, str], s: Styles) -> list[Flowable]:
    milestone_rows = [
        ["Milestone", "Planned", "Reached", "Outcome"],
        ["Concept frozen", "June 2022", "June 2022", "rotor of 27 metres chosen"],
        ["Blade fatigue test", "March 2024", "May 2024", "passed, 20 million cycles"],
        ["Drive train on the test bench", "September 2024", "October 2024", "passed at 110 per cent load"],
        ["First turbine in the water", "August 2025", "open", "site: Lowrick Deep"],
        ["Type certificate", "December 2026", "open", ""],
    ]
    return [
        Paragraph("4 Research and development", s["h1"]),
        Paragraph("4.1 The MT-4 programme", s["h2"]),
        *_prose(
            s,
            "The MT-4 is a turbine of 3.2 MW without a gearbox: its generator turns at the speed of the rotor. That makes it "
            "heavier, 214 tonnes against 163 tonnes for the MT-3, but "
            "removes the part that has caused 58 per cent of our lost hours since 2016. The rotor has a diameter of 27 "
            "metres. Table 5 lists the milestones. The blade "
            "fatigue test ended two months late, since the first blade was damaged on the test stand by a loose bolt and had "
            "to be repaired.",
        ),
        *table_with_caption(
            "Table 5: Milestones of the MT-4 programme", ruled_table(milestone_rows, [150, 85, 85, 130], s, words=4), s
        ),
        *_prose(
            s,
            "The first MT-4 will be placed at Lowrick Deep, where the water is 52 metres deep and the current reaches 3.9 "
            "metres per second at springs. If it runs through one winter, we "
            "shall take orders for it from the summer of 2026.",
        ),
        Paragraph("4.2 Blade coatings", s["h2"]),
        *_prose(
            s,
            "Barnacles cost energy. A blade that has not been cleaned for eighteen months delivers about 7 per cent less "
            "than a clean one.<super>2</super> In 2024 we coated all "
            "blades at Sula Race with a silicone skin, called Slipfin, from which growth is washed off by the current "
            "itself. The turbines coated before June have been "
            "inspected by camera: after seven months their blades were clean over 93 per cent of their length, and only the "
            "root, where the water is slow, was overgrown. We shall "
            "coat Corran Sound in 2025 and Fenwick Narrows in 2026.",
        ),
        Footnote(
            "2. Ostrander, Bellweather and Imai, whose paper on fouling used data of Corran Sound and Fenwick Narrows from "
            "2020 to 2023."
        ),
        Paragraph("4.3 Forecasting", s["h2"]),
        *_prose(
            s,
            "Together with the Institute of Coastal Engineering at Hallmouth we forecast the growth on each blade from power "
            "and vibration, so that a lift is planned when it pays and "
            "not by the calendar. In its first full year the forecast saved us five lifts out of twenty-four.",
        ),
    ]


def _people(_: Mapping[str, str], s: Styles) -> list[Flowable]:
    return [
        Paragraph("5 People and the sea", s["h1"]),
        Paragraph("5.1 Our people", s["h2"]),
        *_prose(
            s,
            f"At the end of the year we employed {sum(company.EMPLOYEES.values())} people, 86 more than a year before. Figure "
            "5 shows where they work. Women hold 31 per cent of all posts and 38 per cent "
            "of those in the design office. We trained 44 apprentices; of the nineteen who finished in 2024, eighteen stayed "
            "with us.",
        ),
        figure(
            picture(charts.side_bars("Where our people work", "employees at 31 December 2024", company.EMPLOYEES), 390),
            "Figure 5: Employees by place of work",
            s,
        ),
        Paragraph("5.2 Marine life", s["h2"]),
        *_prose(
            s,
            "Hydrophones and sonar have watched our turbines since the first of them. In 2024 they recorded 2,316 passages "
            "of harbour porpoises and 418 of grey seals within "
            "50 metres of a rotor, and no collision. At Fenwick Narrows the rotors are stopped for the two weeks in May when "
            "salmon smolts leave the "
            "river; this cost us 0.4 GWh, and we think it well spent.",
        ),
        Paragraph("5.3 Emissions", s["h2"]),
        *_prose(
            s,
            "Our own emissions, from vessels, vehicles and heating, came to 4,870 tonnes of carbon dioxide. The energy that "
            "we delivered avoided about 36,700 tonnes, if one assumes that gas "
            "would have been burned in its place at 220 kilograms per MWh.",
        ),
    ]


def _risks(_: Mapping[str, str], s: Styles) -> list[Flowable]:
    rows = [
        ["Risk", "Likelihood", "Effect", "What we do about it"],
        [
            "Failure of a gearbox",
            "medium",
            "high",
            "seals inspected; two spare gearboxes held at Port Ellary; crane vessel under charter",
        ],
        ["No vessel when needed", "medium", "medium", "charter for sixty days a year until 2029"],
        ["Support contract ends in 2033", "certain", "high", "bring the cost below 120 pounds per MWh by 2028"],
        ["Steel price", "high", "medium", "prices fixed for nine months of orders"],
        ["MT-4 is late", "medium", "medium", "MT-3 offered in its place; penalties capped at 5 per cent"],
        ["Break-in to control systems", "low", "high", "turbines stop safely without the network; drill twice a year"],
    ]
    return [
        Paragraph("6 Risks", s["h1"]),
        *_prose(
            s,
            "The board goes through the register of risks in every quarter. Table 6 shows the six that it holds to be the "
            "most important, with what we do about each. Two have changed since "
            "last year: the risk of having no vessel has become smaller, thanks to the charter of which Section 3.2 tells, "
            "and the risk from the price of steel has grown.",
            "Each risk has an owner on the executive committee, who says twice a year what has been done and what it has "
            "cost. A risk is taken off the list when its owner can show "
            "two years of evidence that it has gone; in 2024 this happened to one, the corrosion of the older sea-bed bases, "
            "of which the divers' survey found no sign.",
            "Once a year we ask what would happen if several risks came true together. The case examined in 2024 was a bad "
            "winter: two gearboxes fail in the same month, the crane vessel is "
            "late by six weeks because of storms, and the export cable of Corran Sound is cut by an anchor. In that case the "
            "company would lose £9.2 million of energy sales and would have to spend "
            "£5.7 million on repairs, of which the insurers would pay £3.9 million after the first £1.8 million. Cash would "
            "fall to £21 million at its lowest, in the following March, and would still "
            "cover four months of wages and interest. The covenants of our loans would be kept, though with little to spare: "
            "debt would stand at 2.2 times operating profit before depreciation, against a "
            "limit of 2.5. From this the board drew three conclusions. The stock of spare gearboxes was raised from one to "
            "two. A second route for the cable of Corran Sound is to be surveyed in the "
            "summer of 2025, at a cost of £0.4 million. And the dividend will not be raised beyond one fifth of the profit "
            "for the year until the MT-4 has earned its type certificate, so that "
            "the company always holds the cash that a bad winter would take. The board believes that a company that lives by "
            "the tide should plan as the harbour pilots do, who do not ask whether the "
            "weather will turn, only what they will do when it does.",
        ),
        *table_with_caption("Table 6: Principal risks", ruled_table(rows, [120, 60, 55, 218], s, words=4), s),
    ]
