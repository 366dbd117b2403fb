/** The annotation `svc/max-cost-per-run`. Source: docs/design/models-and-tools.md#limits */
export const MAX_COST = 'svc/max-cost-per-run'

export const MAX_COST_FORM = `${MAX_COST} is an amount above 0 and a currency, such as "5.00 EUR".`
