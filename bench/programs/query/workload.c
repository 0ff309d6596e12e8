// A shop: its data, the reports its owners read, and what its clerks do all
// day.
#include "workload.h"

#include <stdio.h>
#include <string.h>

static const char *const regions[] = {"north", "south", "east", "west", "centre"};
static const char *const segments[] = {"household", "machinery", "automobile", "building", "furniture"};
static const char *const colours[] = {"red", "green", "blue", "white", "black", "amber", "ivory", "violet"};
static const char *const things[] = {"chair", "table", "lamp", "shelf", "desk", "clock", "vase", "mirror", "rug"};
static const char *const states[] = {"open", "paid", "shipped", "returned"};

#define PICK(r, list) list[random_below((r), (int64_t)(sizeof list / sizeof *list))]

// The order in which arguments are evaluated is not defined: what is drawn at
// random is drawn before.
static void make_customers(Text *csv, int64_t n) {
  Random r = {11};
  for (int64_t i = 1; i <= n; i++) {
    const char *thing = PICK(&r, things), *region = PICK(&r, regions), *segment = PICK(&r, segments);
    text_printf(csv, "%lld,\"Customer #%lld, %s\",%s,%s,", (long long)i, (long long)i, thing, region, segment);
    if (random_below(&r, 20)) { // some have no credit
      int64_t cents = random_below(&r, 900000);
      text_printf(csv, "%lld.%02lld", (long long)cents / 100, (long long)cents % 100);
    }
    text_puts(csv, "\n");
  }
}

static void make_products(Text *csv, int64_t n) {
  Random r = {22};
  for (int64_t i = 1; i <= n; i++) {
    const char *colour = PICK(&r, colours), *thing = PICK(&r, things);
    int64_t size = random_below(&r, 50), cents = 100 + random_below(&r, 50000);
    text_printf(csv, "%lld,%s %s,\"size \"\"%lld\"\"\",%lld.%02lld\r\n", (long long)i, colour, thing, (long long)size,
                (long long)cents / 100, (long long)cents % 100);
  }
}

static void make_orders(Text *orders, Text *lines, const Scale *s) {
  Random r = {33};
  int64_t first = date_from_civil(2019, 1, 1), days = 5 * 365;
  for (int64_t i = 1; i <= s->orders; i++) {
    int year, month, day;
    date_to_civil(first + random_below(&r, days), &year, &month, &day);
    int64_t customer = 1 + random_skewed(&r, s->customers), priority = random_below(&r, 5);
    text_printf(orders, "%lld,%lld,%04d-%02d-%02d,%s,%lld\n", (long long)i, (long long)customer, year, month, day,
                PICK(&r, states), (long long)priority);
    int64_t count = 1 + random_below(&r, 5);
    for (int64_t k = 1; k <= count; k++) {
      int64_t product = 1 + random_skewed(&r, s->products), quantity = 1 + random_below(&r, 20);
      text_printf(lines, "%lld,%lld,%lld,%lld,0.%02lld\n", (long long)i, (long long)k, (long long)product,
                  (long long)quantity, (long long)random_below(&r, 11));
    }
  }
}

static void load(Engine *e, const Scale *s) {
  static const char *const schema[] = {
      "CREATE TABLE customers (id INTEGER, name TEXT, region TEXT, segment TEXT, credit REAL)",
      "CREATE TABLE products (id INTEGER, name TEXT, description TEXT, price REAL)",
      "CREATE TABLE orders (id INTEGER, customer INTEGER, placed DATE, state TEXT, priority INTEGER)",
      "CREATE TABLE lines (order_id INTEGER, number INTEGER, product INTEGER, quantity INTEGER, discount REAL)",
      "CREATE INDEX ON customers (id)",
      "CREATE INDEX ON products (id)",
      "CREATE INDEX ON orders (placed)",
  };
  for (size_t i = 0; i < sizeof schema / sizeof *schema; i++)
    engine_run(e, schema[i]);
  Text customers = {0}, products = {0}, orders = {0}, lines = {0};
  make_customers(&customers, s->customers);
  make_products(&products, s->products);
  make_orders(&orders, &lines, s);
  engine_load(e, "customers", &customers);
  engine_load(e, "products", &products);
  engine_load(e, "orders", &orders);
  engine_load(e, "lines", &lines);
  text_free(&customers);
  text_free(&products);
  text_free(&orders);
  text_free(&lines);
  engine_run(e, "CREATE INDEX ON orders (id)");
  engine_run(e, "CREATE INDEX ON lines (order_id)");
}

static const char *const reports[] = {
    // Turnover by region and year.
    "SELECT c.region, year(o.placed) AS y, round(sum(p.price * l.quantity * (1 - l.discount)), 2) AS turnover,"
    " count(*) AS n FROM customers c JOIN orders o ON o.customer = c.id JOIN lines l ON l.order_id = o.id"
    " JOIN products p ON p.id = l.product WHERE o.state <> 'returned' GROUP BY c.region, y ORDER BY c.region, y",
    // The best customers.
    "SELECT c.name, sum(l.quantity) AS pieces, count(DISTINCT o.id) AS orders FROM orders o, customers c, lines l"
    " WHERE o.customer = c.id AND l.order_id = o.id AND o.placed BETWEEN DATE '2021-01-01' AND DATE '2021-12-31'"
    " GROUP BY c.id, c.name HAVING sum(l.quantity) > 20 ORDER BY pieces DESC, c.name LIMIT 20",
    // Customers who never ordered.
    "SELECT c.segment, count(*) FROM customers c LEFT JOIN orders o ON o.customer = c.id WHERE o.id IS NULL"
    " GROUP BY c.segment ORDER BY 2 DESC, 1",
    // What sells together with chairs.
    "SELECT p2.name, count(*) AS n FROM lines a JOIN products p1 ON p1.id = a.product JOIN lines b ON"
    " b.order_id = a.order_id JOIN products p2 ON p2.id = b.product WHERE p1.name LIKE '%chair' AND b.number <> a.number"
    " GROUP BY p2.name ORDER BY n DESC, p2.name LIMIT 10",
    // Prices that are far from the average.
    "SELECT name, description, price FROM products WHERE price > 1.9 * (SELECT avg(price) FROM products)"
    " AND substr(description, 1, 6) = 'size \"' ORDER BY price DESC, id LIMIT 25",
    // Late months.
    "SELECT month(placed) AS m, state, count(*), min(placed), max(placed), avg(priority), variance(priority)"
    " FROM orders WHERE placed >= DATE '2022-06-15' AND weekday(placed) < 5 GROUP BY m, state ORDER BY m, state",
    // Names as they are printed on parcels.
    "SELECT DISTINCT upper(substr(name, instr(name, ',') + 2)) || '/' || lower(region) AS label, length(region)"
    " FROM customers WHERE credit IS NOT NULL AND NOT (name LIKE '%7%' OR id % 3 = 0) ORDER BY label, 2 DESC",
    // How large orders are.
    "SELECT size, count(*) AS n, sum(total) FROM (SELECT order_id, count(*) AS parts, CASE WHEN sum(quantity) < 10"
    " THEN 'small' WHEN sum(quantity) < 40 THEN 'middle' ELSE 'large' END AS size, sum(quantity) AS total FROM lines"
    " GROUP BY order_id) t WHERE parts > 1 GROUP BY size ORDER BY n",
    // Credit by group, with what has none.
    "SELECT CASE region WHEN 'north' THEN 'N' WHEN 'south' THEN 'S' ELSE 'other' END AS r,"
    " count(credit), count(*), sum(coalesce(credit, 0)), max(credit), min(nullif(credit, 0.0)) FROM customers"
    " WHERE segment IN ('machinery', 'building', 'household') GROUP BY r ORDER BY r",
    // Products of big orders but not of urgent ones.
    "SELECT product FROM lines WHERE quantity >= 19 INTERSECT SELECT product FROM lines WHERE discount >= 0.09"
    " EXCEPT SELECT l.product FROM lines l JOIN orders o ON o.id = l.order_id WHERE o.priority = 4 AND l.quantity > 10"
    " ORDER BY 1 LIMIT 30",
    // A calendar of two years.
    "SELECT year(placed) * 100 + month(placed) AS ym, count(*) FROM orders WHERE state IN (SELECT state FROM orders"
    " WHERE priority = 0 AND id < 50) AND placed < DATE '2021-01-01' GROUP BY ym UNION ALL SELECT 0, count(*) FROM"
    " orders ORDER BY ym",
    // Everything, sorted.
    "SELECT o.id, o.placed, l.number, l.quantity * l.discount AS d FROM orders o JOIN lines l ON l.order_id = o.id"
    " WHERE o.priority > 2 ORDER BY d DESC, o.placed, o.id, l.number LIMIT 50 OFFSET 100",
    "SELECT hash(name, region) % 1000 AS h, count(*) FROM customers GROUP BY h HAVING count(*) > 1 ORDER BY 2 DESC, 1"
    " LIMIT 12",
};

// Statements that have to fail, each in its own way.
static const char *const mistakes[] = {
    "SELEC 1",
    "SELECT",
    "SELECT 1 +",
    "SELECT 'open",
    "SELECT nothing FROM orders",
    "SELECT id FROM orders, customers",
    "SELECT * FROM nowhere",
    "SELECT region FROM customers GROUP BY segment",
    "SELECT sum(name) FROM customers",
    "SELECT name + 1 FROM customers",
    "SELECT sum(count(*)) FROM customers",
    "SELECT substr(name) FROM customers",
    "SELECT unknown(1)",
    "SELECT CAST('x' AS INTEGER)",
    "SELECT (SELECT id FROM customers)",
    "SELECT 1 UNION SELECT 1, 2",
    "SELECT DISTINCT region FROM customers ORDER BY name",
    "INSERT INTO customers VALUES (1, 2)",
    "INSERT INTO customers VALUES ('one', '', '', '', 0)",
    "CREATE TABLE orders (id INTEGER)",
    "UPDATE orders SET nothing = 1",
    "SELECT DATE '2021-02-29'",
    "SELECT 1 /* never ends",
    "SELECT 1 ^ 2",
};

static void run_reports(Engine *e) {
  for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
    if (!engine_run(e, reports[i]))
      fprintf(stderr, "report %zu: %s", i, e->last.at);
  }
}

// lookups is what clerks do: many small statements, each of them parsed.
static void run_lookups(Engine *e, const Scale *s, uint64_t seed) {
  Random r = {seed};
  for (int i = 0; i < s->lookups; i++) {
    long long order = 1 + random_below(&r, s->orders), customer = 1 + random_below(&r, s->customers);
    long long product = 1 + random_below(&r, s->products), some = 1 + random_below(&r, 9);
    switch (random_below(&r, 12)) {
    case 0:
      engine_runf(e, "UPDATE customers SET credit = coalesce(credit, 0) + %lld.5 WHERE id = %lld", some, customer);
      break;
    case 1:
      engine_runf(e, "INSERT INTO lines VALUES (%lld, 9, %lld, %lld, 0.0)", order, product, some);
      break;
    case 2:
      engine_runf(e, "EXPLAIN SELECT * FROM orders o JOIN lines l ON l.order_id = o.id WHERE o.id < %lld AND"
                     " l.quantity > 3", order);
      break;
    case 3:
      engine_runf(e, "SELECT CASE WHEN EXISTS (SELECT id FROM orders WHERE id = %lld AND priority > 1) THEN 'yes' ELSE"
                     " 'no' END AS urgent, replace(trim('  a-b-c '), '-', '%lld'), greatest(%lld, 7, -2), 2.5e1 / 4",
                  order, customer, customer);
      break;
    case 4:
    case 5:
    case 6:
      engine_runf(e, "SELECT l.number, p.name, l.quantity, round(p.price * (1 - l.discount), 2) FROM lines l JOIN"
                     " products p ON p.id = l.product WHERE l.order_id = %lld ORDER BY l.number", order);
      break;
    case 7:
      engine_runf(e, "SELECT id, state FROM orders WHERE placed > DATE '2020-02-0%lld' AND placed <= DATE '2020-03-02'"
                     " AND customer = %lld", some, customer);
      break;
    default:
      engine_runf(e, "SELECT name, region, credit FROM customers WHERE id = %lld", customer);
      break;
    }
  }
}

// run_changes deletes and updates in bulk, so that indexes shrink, too.
static void run_changes(Engine *e, const Scale *s) {
  engine_run(e, "CREATE TABLE archive (id INTEGER, placed DATE, note TEXT)");
  engine_run(e, "INSERT INTO archive SELECT id, placed, 'from ' || state || ' ' || CAST(priority AS TEXT) FROM orders"
                " WHERE placed < DATE '2019-07-01'");
  engine_run(e, "CREATE INDEX ON archive (placed)");
  engine_runf(e, "DELETE FROM orders WHERE id IN (SELECT id FROM archive) AND id < %lld", (long long)s->orders / 2);
  engine_run(e, "UPDATE orders SET placed = placed + 7, state = reverse(state) WHERE priority = 3 AND month(placed) = 5");
  engine_run(e, "SELECT count(*), min(placed), max(note) FROM archive WHERE placed >= DATE '2019-02-01'");
  engine_run(e, "SELECT state, count(*) FROM orders GROUP BY state ORDER BY state");
  engine_run(e, "DELETE FROM lines WHERE number = 9 OR quantity = 13");
  engine_run(e, "DELETE FROM archive");
  engine_run(e, "DROP TABLE archive");
}

void workload_run(Engine *e, const Scale *scale) {
  load(e, scale);
  for (int round = 0; round < scale->rounds; round++) {
    run_reports(e);
    run_lookups(e, scale, 100 + (uint64_t)round);
  }
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
    if (engine_run(e, mistakes[i]))
      fprintf(stderr, "mistake %zu went unnoticed\n", i);
  run_changes(e, scale);
  run_reports(e);
}
