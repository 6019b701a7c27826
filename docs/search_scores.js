/* Search finds guides first, and last the pages that list what is inside of the package. */
var Scorer = {
  score: ([page, , , , score]) => {
    if (/^(modules|robots|proof|real-robots|errata)$/.test(page)) return score - 1000;
    return /^(how-to\/|first-steps$|demo$|check-model$)/.test(page) ? score + 100 : score;
  },
  // These are the values of Sphinx.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
