// The pages of API tokens.

import { budgetEditing } from '../budgets/rule-editing.ts'
import type { Route } from '../page/page-request.ts'
import { tokenBudgets } from './budgets.ts'
import { changeToken, confirmState, showEditToken, switchState } from './editing.ts'
import {
  confirmRevoke,
  confirmRoll,
  createToken,
  revokeToken,
  rollToken,
  showNewToken,
  showToken,
  showTokens,
} from './handlers.ts'

const {
  showNewBudget,
  addBudget,
  showBudgetForm,
  changeBudget,
  confirmBudgetReset,
  resetBudget,
  confirmBudgetDeletion,
  deleteBudget,
} = budgetEditing(tokenBudgets)

const writing = { permission: 'API Tokens Write' } as const

const tokens = '/dashboard/{account}/tokens'

const budgets = `${tokens}/{token}/budgets`

export const tokenRoutes: readonly Route[] = [
  { path: tokens, permission: 'API Tokens Read', show: showTokens },
  {
    path: `${tokens}/new`,
    permission: 'API Tokens Write',
    show: showNewToken,
    effect: 'opens',
    take: createToken,
  },
  { path: `${tokens}/{token}`, permission: 'API Tokens Read', show: showToken },
  {
    path: `${tokens}/{token}/edit`,
    permission: 'API Tokens Write',
    show: showEditToken,
    effect: 'opens',
    take: changeToken,
  },
  {
    path: `${tokens}/{token}/state`,
    permission: 'API Tokens Write',
    show: confirmState,
    effect: 'opens',
    take: switchState,
  },
  {
    path: `${tokens}/{token}/roll`,
    permission: 'API Tokens Write',
    show: confirmRoll,
    effect: 'opens',
    take: rollToken,
  },
  {
    path: `${tokens}/{token}/revoke`,
    permission: 'API Tokens Write',
    show: confirmRevoke,
    effect: 'ends',
    take: revokeToken,
  },
  // No name of a budget contains this character.
  { path: `${budgets}/~new`, ...writing, show: showNewBudget, effect: 'opens', take: addBudget },
  {
    path: `${budgets}/{budget}/edit`,
    ...writing,
    show: showBudgetForm,
    effect: 'opens',
    take: changeBudget,
  },
  {
    path: `${budgets}/{budget}/reset`,
    ...writing,
    show: confirmBudgetReset,
    effect: 'ends',
    take: resetBudget,
  },
  {
    path: `${budgets}/{budget}/delete`,
    ...writing,
    show: confirmBudgetDeletion,
    effect: 'ends',
    take: deleteBudget,
  },
]
