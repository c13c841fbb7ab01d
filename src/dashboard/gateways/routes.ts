// The pages of AI gateways.

import { budgetEditing } from '../budgets/rule-editing.ts'
import type { Route } from '../page/page-request.ts'
import { gatewayBudgets } from './budgets/owner.ts'
import { showBudgets } from './budgets/budget-list.ts'
import { showBudget } from './budgets/budget-page.ts'
import { changeBudgetSettings, showBudgetSettings } from './budgets/budget-settings.ts'
import { confirmAuthentication, switchAuthentication } from './authentication.ts'
import { changeGuard, showGuard } from './guard/guard-editing.ts'
import { createGateway, showNewGateway } from './creation.ts'
import { confirmDeletion, deleteGateway } from './deletion.ts'
import { changeSettings, showSettings } from './editing.ts'
import { showGateways } from './list.ts'
import { showGateway } from './gateway-page.ts'
import {
  confirmDeployment,
  confirmRouteDeletion,
  deleteRoute,
  deployVersion,
} from './model-routes/route-actions.ts'
import { changeRoute, createRoute, showNewRoute, showRouteForm } from './model-routes/route-editing.ts'
import { showRoutes } from './model-routes/route-list.ts'
import { showRoute } from './model-routes/route-page.ts'
import {
  commitPolicies,
  confirmCommit,
  confirmDiscard,
  confirmRollback,
  discardDraft,
  rollBack,
} from './policies/policy-commits.ts'
import {
  addPolicy,
  changePolicy,
  confirmPolicyRemoval,
  removePolicy,
  showNewPolicy,
  showPolicy,
} from './policies/policy-editing.ts'
import { showPolicies } from './policies/policy-list.ts'
import { showTrial, tryCall } from './policies/policy-trial.ts'
import { addKey, confirmKeyDeletion, deleteKey, showNewKey } from './provider-keys/key-editing.ts'
import { showKeys } from './provider-keys/key-list.ts'
import { sendTest, showTest } from './test-request.ts'
import { confirmEmptying, emptyStored } from './stored-responses.ts'
import { createToken, showNewToken } from './token.ts'

const {
  showNewBudget,
  addBudget,
  showBudgetForm,
  changeBudget,
  confirmBudgetReset,
  resetBudget,
  confirmBudgetDeletion,
  deleteBudget,
} = budgetEditing(gatewayBudgets)

const reading = { permission: 'AI Gateway Read' } as const
const editing = { permission: 'AI Gateway Edit' } as const

const gateways = '/dashboard/{account}/gateways'
const gateway = `${gateways}/{gateway}`
const keys = `${gateway}/keys`
const budgets = `${gateway}/budgets`
const budget = `${budgets}/{budget}`
const policies = `${gateway}/policies`
const modelRoutes = `${gateway}/routes`
const modelRoute = `${modelRoutes}/{modelroute}`

export const gatewayRoutes: readonly Route[] = [
  { path: gateways, ...reading, show: showGateways },
  // No id of a gateway contains this character.
  { path: `${gateways}/~new`, ...editing, show: showNewGateway, effect: 'opens', take: createGateway },
  { path: gateway, ...reading, show: showGateway },
  { path: `${gateway}/settings`, ...editing, show: showSettings, effect: 'ends', take: changeSettings },
  { path: `${gateway}/guard`, ...editing, show: showGuard, effect: 'opens', take: changeGuard },
  {
    path: `${gateway}/responses`,
    ...editing,
    show: confirmEmptying,
    effect: 'ends',
    take: emptyStored,
  },
  {
    path: `${gateway}/authentication`,
    ...editing,
    show: confirmAuthentication,
    effect: 'opens',
    take: switchAuthentication,
  },
  {
    path: `${gateway}/tokens/new`,
    permission: 'API Tokens Write',
    show: showNewToken,
    effect: 'opens',
    take: createToken,
  },
  { path: `${gateway}/test`, permission: 'AI Gateway Run', show: showTest, effect: 'tries', take: sendTest },
  { path: `${gateway}/delete`, ...editing, show: confirmDeletion, effect: 'ends', take: deleteGateway },
  { path: budgets, ...reading, show: showBudgets },
  // No name of a budget contains this character.
  {
    path: `${budgets}/~new`,
    ...editing,
    show: showNewBudget,
    effect: 'sets',
    take: addBudget,
  },
  {
    path: `${budgets}/~settings`,
    ...editing,
    show: showBudgetSettings,
    effect: 'sets',
    take: changeBudgetSettings,
  },
  { path: budget, ...reading, show: showBudget },
  { path: `${budget}/edit`, ...editing, show: showBudgetForm, effect: 'sets', take: changeBudget },
  { path: `${budget}/reset`, ...editing, show: confirmBudgetReset, effect: 'ends', take: resetBudget },
  {
    path: `${budget}/delete`,
    ...editing,
    show: confirmBudgetDeletion,
    effect: 'ends',
    take: deleteBudget,
  },
  { path: policies, ...reading, show: showPolicies },
  // Ids of policies are hexadecimal.
  { path: `${policies}/~new`, ...editing, show: showNewPolicy, effect: 'sets', take: addPolicy },
  { path: `${policies}/~simulate`, ...reading, show: showTrial, effect: 'tries', take: tryCall },
  { path: `${policies}/~commit`, ...editing, show: confirmCommit, effect: 'opens', take: commitPolicies },
  { path: `${policies}/~discard`, ...editing, show: confirmDiscard, effect: 'ends', take: discardDraft },
  {
    path: `${policies}/~commits/{commit}`,
    ...editing,
    show: confirmRollback,
    effect: 'opens',
    take: rollBack,
  },
  { path: `${policies}/{policy}`, ...editing, show: showPolicy, effect: 'sets', take: changePolicy },
  {
    path: `${policies}/{policy}/delete`,
    ...editing,
    show: confirmPolicyRemoval,
    effect: 'ends',
    take: removePolicy,
  },
  // The API shows keys to those alone who may set them.
  { path: keys, ...editing, show: showKeys },
  { path: `${keys}/new`, ...editing, show: showNewKey, effect: 'opens', take: addKey },
  {
    path: `${keys}/{providerkey}/delete`,
    ...editing,
    show: confirmKeyDeletion,
    effect: 'ends',
    take: deleteKey,
  },
  { path: modelRoutes, ...reading, show: showRoutes },
  { path: `${modelRoutes}/new`, ...editing, show: showNewRoute, effect: 'sets', take: createRoute },
  { path: modelRoute, ...reading, show: showRoute },
  { path: `${modelRoute}/edit`, ...editing, show: showRouteForm, effect: 'sets', take: changeRoute },
  {
    path: `${modelRoute}/versions/{version}`,
    ...editing,
    show: confirmDeployment,
    effect: 'sets',
    take: deployVersion,
  },
  {
    path: `${modelRoute}/delete`,
    ...editing,
    show: confirmRouteDeletion,
    effect: 'ends',
    take: deleteRoute,
  },
]
