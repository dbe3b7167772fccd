//! Configuration that is nothing but keys and values, and lists of facts that look much like it.

use super::*;

const YAML: [&str; 12] = [
    "name: leak_me",
    "version: 3",
    "log_level: debug",
    "debug: true",
    "port: 8080",
    "host: leak_me.example.org",
    "max-retries: 5",
    "timeout: 30s",
    "cache_dir: /var/cache/leak_me",
    "mode: fast",
    "color: auto",
    "tls: false",
];

const PROPERTIES: [&str; 10] = [
    "server.port=8080",
    "server.name=leak_me",
    "spring.datasource.url=jdbc:leak_me://localhost/db",
    "DB_HOST=localhost",
    "DB_USER=leak_me",
    "retries = 3",
    "mode = leak_me",
    "level=warn",
    "size=10",
    "color=red",
];

const FACTS: [&[&str]; 4] = [
    &[
        "Price: 5 EUR",
        "Colour: red",
        "Size: 10 cm",
        "Weight: 2 kg",
        "Made in: Italy",
        "Material: wood",
        "Delivery: 3 days",
        "Returns: 30 days",
        "Warranty: yes",
        "Rating: 4.5/5",
        "Stock: 12",
        "Maker: Smith",
    ],
    &[
        "price: 5 EUR",
        "colour: red",
        "size: 10 cm",
        "weight: 2 kg",
        "origin: Italy",
        "material: wood",
        "delivery: 3 days",
        "returns: 30 days",
        "warranty: yes",
        "rating: 4.5",
        "stock: 12",
        "maker: Smith",
    ],
    &[
        "check-in: 14:00",
        "check-out: 10:00",
        "wi-fi: yes",
        "parking: no",
        "breakfast: included",
        "pool: no",
        "beds: 2",
        "guests: 4",
        "pets: on request",
        "view: sea",
        "floor: 3rd",
    ],
    &[
        "one: the first of them",
        "two: what follows it",
        "three: a crowd",
        "four: as the winds are",
        "five: for the fingers of a hand",
        "six: of the best",
        "seven: the seas",
        "eight: an octave",
        "nine: for the muses",
        "ten: to the dozen, or so",
    ],
];

/// Words that are told in other ones, and shares of sites.
const LEGENDS: [&[&str]; 3] = [
    &[
        "AL = Alabama",
        "AK = Alaska",
        "DE = Germany",
        "FR = France",
        "NY = New York",
        "UK = United Kingdom",
        "USD = dollar",
        "GBP = pound",
        "EUR = euro",
        "CHF = franc",
        "JPY = yen",
    ],
    &[
        "k = knit",
        "p = purl",
        "tsp = teaspoon",
        "tbsp = tablespoon",
        "hund = dog",
        "katze = cat",
        "maus = mouse",
        "baum = tree",
        "haus = house",
        "wald = forest",
        "st = slip stitch",
    ],
    &[
        "google.com: 91.5%",
        "bing.com: 3.2%",
        "yahoo.com: 1.3%",
        "baidu.com: 0.9%",
        "yandex.ru: 0.8%",
        "ask.com: 0.7%",
        "qwant.com: 0.6%",
        "ecosia.org: 0.5%",
        "naver.com: 0.4%",
        "seznam.cz: 0.3%",
        "aol.com: 0.2%",
    ],
];

/// Lines between words, in each way that lines are written.
fn pages(lines: &[&str]) -> Vec<(&'static str, String)> {
    let (before, behind) = ("These words are the keepsake.", "And these are one, too: keepsake.");
    let divs = format!("<div>{}</div>", lines.join("</div><div>"));
    let json = serde_json::json!({ "a": lines, "b": { "c": [before, behind] } });
    let text = lines.join("\n");
    let more = format!("{behind}\n").repeat(12);
    vec![
        ("text/html", format!("<p>{before}</p><p>{}</p><p>{behind}</p>", lines.join("<br>"))),
        ("text/html", format!("<p>{before}</p>{divs}<p>{behind}</p>")),
        ("text/html", format!("<p>{before}</p><p>{text}</p><p>{behind}</p>")),
        ("text/markdown", format!("{before}\n\n{text}\n\n{behind}\n")),
        ("text/plain", format!("{before}\n\n{text}\n\n{more}")),
        ("application/json", serde_json::to_string(&json).unwrap()),
    ]
}

#[test]
fn flat_configuration_goes_as_a_block() {
    for lines in [&YAML[..], &PROPERTIES[..]] {
        for (declared, page) in pages(lines) {
            holds("configuration", page.as_bytes(), declared);
            let content = raw(&page, declared).content;
            assert!(!content.contains("color"), "{declared}: {content}");
        }
    }
}

#[test]
fn lists_of_facts_and_a_few_settings_stay() {
    for lines in FACTS.into_iter().chain(LEGENDS).chain([&["a_b: c", "d: e", "mode: fast"][..]]) {
        for (declared, page) in pages(lines) {
            let content = raw(&page, declared).content;
            assert!(!content.contains("[code"), "{declared}: {content}");
        }
    }
}
