// Formulas: a grammar, what it makes of text, and a visitor that computes it.
#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <boost/fusion/include/adapt_struct.hpp>
#include <boost/phoenix/phoenix.hpp>
#include <boost/spirit/include/qi.hpp>
#include <boost/variant.hpp>
#include <boost/variant/recursive_wrapper.hpp>

namespace network {

namespace formula {

struct Binary;
struct Call;
struct Negated;
using Term = boost::variant<double, std::string, boost::recursive_wrapper<Negated>, boost::recursive_wrapper<Binary>,
                            boost::recursive_wrapper<Call>>;

struct Negated {
  Term operand;
};

struct Binary {
  char op;
  Term left, right;
};

struct Call {
  std::string name;
  std::vector<Term> arguments;
};

} // namespace formula
} // namespace network

BOOST_FUSION_ADAPT_STRUCT(network::formula::Call, (std::string, name)(std::vector<network::formula::Term>, arguments))

namespace network {
namespace formula {

namespace qi = boost::spirit::qi;
namespace phoenix = boost::phoenix;

Term make_binary(char op, const Term &left, const Term &right) { return Binary{op, left, right}; }
Term make_negated(const Term &operand) { return Negated{operand}; }

template <class Iterator> struct Grammar : qi::grammar<Iterator, Term(), qi::space_type> {
  Grammar() : Grammar::base_type(comparison) {
    using qi::_1;
    using qi::_val;
    auto join = [](char op) { return _val = phoenix::bind(make_binary, op, _val, _1); };

    comparison = sum[_val = _1] >> -(('<' >> sum[join('<')]) | ('>' >> sum[join('>')]));
    sum = product[_val = _1] >> *(('+' >> product[join('+')]) | ('-' >> product[join('-')]));
    product = power[_val = _1] >> *(('*' >> power[join('*')]) | ('/' >> power[join('/')]));
    power = unary[_val = _1] >> -('^' >> power[join('^')]);
    unary = ('-' >> unary[_val = phoenix::bind(make_negated, _1)]) | primary[_val = _1];
    primary = qi::double_ | call | name | ('(' >> comparison >> ')');
    call = name >> '(' >> (comparison % ',') >> ')';
    name = qi::lexeme[qi::alpha >> *(qi::alnum | qi::char_('_'))];
  }

  qi::rule<Iterator, Term(), qi::space_type> comparison, sum, product, power, unary, primary;
  qi::rule<Iterator, Call(), qi::space_type> call;
  qi::rule<Iterator, std::string(), qi::space_type> name;
};

Term parse(const std::string &text) {
  static const Grammar<std::string::const_iterator> grammar;
  Term term;
  auto at = text.begin();
  if (!qi::phrase_parse(at, text.end(), grammar, qi::space, term) || at != text.end())
    throw FormulaError("cannot read \"" + text + "\" from character " + std::to_string(at - text.begin()));
  return term;
}

class Evaluator : public boost::static_visitor<double> {
public:
  explicit Evaluator(const std::map<std::string, double> &variables) : variables_(variables) {}

  double operator()(double v) const { return v; }

  double operator()(const std::string &name) const {
    auto it = variables_.find(name);
    if (it == variables_.end())
      throw FormulaError("unknown variable " + name);
    return it->second;
  }

  double operator()(const Negated &n) const { return -boost::apply_visitor(*this, n.operand); }

  double operator()(const Binary &b) const {
    double x = boost::apply_visitor(*this, b.left), y = boost::apply_visitor(*this, b.right);
    switch (b.op) {
    case '+': return x + y;
    case '-': return x - y;
    case '*': return x * y;
    case '/':
      if (y == 0)
        throw FormulaError("division by zero");
      return x / y;
    case '^': return std::pow(x, y);
    case '<': return x < y;
    case '>': return x > y;
    }
    throw FormulaError(std::string("unknown operator ") + b.op);
  }

  double operator()(const Call &call) const {
    using Function = std::function<double(const std::vector<double> &)>;
    static const std::map<std::string, std::pair<std::size_t, Function>> functions = {
        {"min", {2, [](auto &v) { return std::min(v[0], v[1]); }}},
        {"max", {2, [](auto &v) { return std::max(v[0], v[1]); }}},
        {"abs", {1, [](auto &v) { return std::fabs(v[0]); }}},
        {"sqrt", {1, [](auto &v) { return std::sqrt(v[0]); }}},
        {"if", {3, [](auto &v) { return v[0] != 0 ? v[1] : v[2]; }}},
    };
    auto it = functions.find(call.name);
    if (it == functions.end())
      throw FormulaError("unknown function " + call.name);
    if (call.arguments.size() != it->second.first)
      throw FormulaError(call.name + " takes " + std::to_string(it->second.first) + " arguments");
    std::vector<double> values;
    for (const Term &t : call.arguments)
      values.push_back(boost::apply_visitor(*this, t));
    return it->second.second(values);
  }

private:
  const std::map<std::string, double> &variables_;
};

} // namespace formula

double evaluate(const std::string &text, const std::map<std::string, double> &variables) {
  return boost::apply_visitor(formula::Evaluator(variables), formula::parse(text));
}

void analyse_tariffs(const Network &network, Findings &findings) {
  double total = 0, highest = 0;
  int failures = 0;
  for (const Line &line : network.lines) {
    std::map<std::string, double> variables = {{"length", line.length}, {"capacity", line.capacity}};
    if (line.from % 97 == 13)
      variables.erase("capacity");
    try {
      double v = evaluate(line.tariff, variables);
      total += v;
      highest = std::max(highest, v);
    } catch (const FormulaError &e) {
      failures++;
      findings.texts["last failure"] = e.what();
    }
  }
  findings.numbers["tariffs"] = total;
  findings.numbers["highest tariff"] = highest;
  findings.numbers["failures"] = failures;
}

} // namespace network
