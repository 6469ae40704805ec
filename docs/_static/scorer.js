// The search shows guide and reference before development; the path of a page says where it belongs.
const PLACES = [
  [/^(decisions|adopted|development|benchmarks|measured|classification_tables|licences|claims|derivations)/, -30],
  [/^api\/(index|derivations)/, 0],
  [/^api\//, 15],
  [/^(estimators|choosing|aggregation|groups|intervals|forecasting|numerics|scale|glossary|theory|tutorials|start)/, 18],
  [/^(how-to|classification|figures|explorer)/, 10],
];

var Scorer = {
  // Sphinx's own weights, and what the place of a page adds.
  score: (result) => {
    const [docname, , , , score] = result;
    const place = PLACES.find(([pattern]) => pattern.test(docname));
    return score + (place ? place[1] : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
