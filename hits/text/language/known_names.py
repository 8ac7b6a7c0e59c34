"""What is known of names beforehand: several names of one, and adjectives of countries and other names of peoples."""

from collections.abc import Mapping

_TWO_NAMES = """
    us = usa = united states = united states of america = america
    uk = united kingdom = britain = great britain
    un = united nations
    eu = european union
    conservatives = conservative = conservative party = tories = tory = tory party
    labour = labour party = new labour
    liberal democrats = liberal democrat = lib dems = lib dem
    republicans = republican = republican party
    democrats = democrat = democratic party
    federal reserve = us federal reserve = federal reserve board = federal reserve bank = fed = us fed
    oscars = academy awards = oscar = academy award
    olympics = olympic games = olympic
    macintosh = mac
    volkswagen = vw
    manchester united = man utd = man united
    newcastle united = newcastle = magpies
    tottenham hotspur = tottenham = spurs
    arsenal = gunners
    brentford = bees
    celtic = bhoys
    charlton = addicks
    chelsea = blues
    everton = toffees
    liverpool = reds
    livingston = livi
    middlesbrough = boro
    norwich = canaries
    portsmouth = pompey
    southampton = saints
    sunderland = black cats
    west ham = hammers
    leicester = leicester tigers = tigers
    argentina = pumas
    australia = wallabies = socceroos
    cameroon = indomitable lions
    ghana = black stars
    italy = azzurri
    new zealand = all blacks
    nigeria = super eagles
    south africa = springboks = bafana bafana
    west indies = windies
"""
# The first of each line by each of its names.
FIRST_NAME = {
    name: names[0] for line in _TWO_NAMES.strip().split("\n") for names in [line.strip().split(" = ")] for name in names
}
# All that have the same first name, by it.
SECOND_NAMES: Mapping[str, frozenset[str]] = {
    first: frozenset(name for name, other in FIRST_NAME.items() if other == first) for first in FIRST_NAME.values()
}
_ADJECTIVES = """
    afghanistan = afghan, albania = albanian, algeria = algerian, argentina = argentine, argentina = argentinian,
    australia = australian, austria = austrian, bangladesh = bangladeshi, belarus = belarusian, belgium = belgian,
    bolivia = bolivian, bosnia = bosnian, brazil = brazilian, bulgaria = bulgarian, burma = burmese,
    cambodia = cambodian, canada = canadian, chile = chilean, china = chinese, colombia = colombian,
    croatia = croatian, cuba = cuban, cyprus = cypriot, denmark = danish, ecuador = ecuadorian, egypt = egyptian,
    england = english, estonia = estonian, ethiopia = ethiopian, finland = finnish, france = french,
    georgia = georgian, germany = german, ghana = ghanaian, greece = greek, haiti = haitian, hungary = hungarian,
    iceland = icelandic, india = indian, indonesia = indonesian, iran = iranian, iraq = iraqi, ireland = irish,
    israel = israeli, italy = italian, jamaica = jamaican, japan = japanese, jordan = jordanian, kenya = kenyan,
    kuwait = kuwaiti, latvia = latvian, lebanon = lebanese, libya = libyan, lithuania = lithuanian,
    malaysia = malaysian, mexico = mexican, mongolia = mongolian, morocco = moroccan, nepal = nepalese,
    netherlands = dutch, nigeria = nigerian, north korea = north korean, norway = norwegian, pakistan = pakistani,
    peru = peruvian, philippines = filipino, poland = polish, portugal = portuguese, qatar = qatari,
    romania = romanian, russia = russian, rwanda = rwandan, saudi arabia = saudi, scotland = scottish,
    senegal = senegalese, serbia = serbian, slovakia = slovak, slovenia = slovenian, somalia = somali,
    south africa = south african, south korea = south korean, spain = spanish, sri lanka = sri lankan,
    sudan = sudanese, sweden = swedish, switzerland = swiss, syria = syrian, taiwan = taiwanese, thailand = thai,
    tunisia = tunisian, turkey = turkish, uganda = ugandan, ukraine = ukrainian, united kingdom = british,
    united states = american, venezuela = venezuelan, vietnam = vietnamese, wales = welsh, yemen = yemeni,
    zambia = zambian, zimbabwe = zimbabwean
"""
COUNTRY_OF = {
    adjective: country
    for pair in " ".join(_ADJECTIVES.split()).split(", ")
    for country, adjective in [pair.split(" = ")]
}
_OTHERS = """
    african american angolan arab armenian asian bahraini basque british cameroonian caribbean catalan chechen
    congolese czech english european fijian flemish guatemalan ivorian kazakh korean kosovan kurdish kyrgyz latin
    liberian macedonian maltese mauritian namibian omani palestinian panamanian paraguayan samoan singaporean soviet
    tibetan tongan uruguayan uzbek welsh
    briton croat dane dutchman englishman finn frenchman irishman pole scot scotsman serb spaniard swede turk welshman
"""
COUNTRIES = frozenset(COUNTRY_OF.values())
NATIONALITIES = frozenset(name.split()[-1] for name in COUNTRY_OF) | frozenset(_OTHERS.split())
