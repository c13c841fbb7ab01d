// Prometheus metrics of budgets.

import { byName, type Families, sample } from './family.ts'

export const budgetFamilies: Families = {
  gatehouse_budget_decisions_total: {
    help: 'Attempts of AI calls that budgets govern, by outcome, and by whether it was decided by what the process knew (process) or by a step of the store (store).',
    read: ({ edge: { budgets } }) => [
      ...byName(budgets.atOnce, outcome => ({ outcome, decided_by: 'process' })),
      ...byName(budgets.afterStep, outcome => ({ outcome, decided_by: 'store' })),
    ],
  },
  gatehouse_budget_steps_total: {
    help: 'Steps of budgets in the store, by result: granted, also reports and renewals; refused, as a call does not fit; or failed.',
    read: ({ edge: { budgets } }) => byName(budgets.steps, result => ({ result })),
  },
  gatehouse_budget_alerts_total: {
    help: 'Attempts to deliver budget alerts to their webhooks, by result.',
    read: ({ budgetAlerts }) => byName(budgetAlerts, result => ({ result })),
  },
  gatehouse_budget_uncounted_accounts: {
    help: 'Accounts whose budgets this process cannot count in the store just now.',
    read: ({ edge: { budgets } }) => [sample(budgets.uncounted)],
  },
  gatehouse_budgets_reached: {
    help: 'Budgets that calls of the last half minute asked, whose use, with reservations, has reached this share of the limit; with workers, as many as the one that knows most.',
    read: ({ edge: { budgets } }) => byName(budgets.reached, share => ({ share })),
    together: 'max',
  },
}
