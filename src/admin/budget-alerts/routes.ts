// The rows of the admin listener about budget alerts: method, path, permission, handler.

import { account, type ApiRow } from '../api/api-types.ts'
import { always } from '../api/lasting-access.ts'
import { jsonBody } from '../http/request-body.ts'
import {
  createBudgetAlert,
  deleteBudgetAlert,
  listBudgetAlerts,
  rotateBudgetAlertSecret,
  testBudgetAlert,
  updateBudgetAlert,
} from './budget-alerts.ts'

const alerts = `${account}/ai-gateway/gateways/{gateway_id}/budget_alerts`
const alert = `${alerts}/{alert_id}`
const permission = 'AI Gateway Edit'
/** What is sent to a webhook goes on after the access that chose it has ended. */
const lastingAccess = always('choose where budget alerts are sent')

export const budgetAlertRows: readonly ApiRow[] = [
  { method: 'GET', path: alerts, permission: 'AI Gateway Read', handle: listBudgetAlerts },
  { method: 'POST', path: alerts, permission, lastingAccess, body: jsonBody, handle: createBudgetAlert },
  { method: 'PUT', path: alert, permission, lastingAccess, body: jsonBody, handle: updateBudgetAlert },
  { method: 'DELETE', path: alert, permission, handle: deleteBudgetAlert },
  {
    method: 'POST',
    path: `${alert}/rotate_secret`,
    permission,
    lastingAccess,
    handle: rotateBudgetAlertSecret,
  },
  { method: 'POST', path: `${alert}/test`, permission, lastingAccess: 'nothing', handle: testBudgetAlert },
]
