// The operations of budget alerts, for the document of the API.

import { json, type Operation, refusal } from '../schema/operation.ts'
import { id, listOf, named, open, success } from '../schema/schema.ts'
import { alertTest, budgetAlertWithSecret, newBudgetAlert } from './schemas.ts'

const tag = 'AI gateways'
const alerts = '/client/v4/accounts/{account_id}/ai-gateway/gateways/{gateway_id}/budget_alerts'
const alert = `${alerts}/{alert_id}`
const body = {
  schema: newBudgetAlert,
  examples: { 'Three steps': { url: 'https://hooks.example.com/budgets', thresholds: [50, 80, 95] } },
}

export const budgetAlertOperations: Readonly<Record<string, Operation>> = {
  [`POST ${alerts}`]: {
    id: 'createBudgetAlert',
    tag,
    summary: 'Tell a webhook when budgets of an AI gateway reach a threshold',
    description:
      'Messages are signed as Standard Webhooks does, with the secret of the response, which is not shown again. A gateway has at most 5 alerts.',
    body,
    response: json(success(budgetAlertWithSecret)),
    refusals: [refusal('too_many_budget_alerts')],
  },
  [`GET ${alerts}`]: {
    id: 'listBudgetAlerts',
    tag,
    summary: 'List the budget alerts of an AI gateway, with their latest deliveries',
    response: json(success(listOf(named('BudgetAlert')))),
  },
  [`PUT ${alert}`]: {
    id: 'updateBudgetAlert',
    tag,
    summary: 'Replace the URL and the thresholds of a budget alert',
    body,
    response: json(success(named('BudgetAlert'))),
  },
  [`DELETE ${alert}`]: {
    id: 'deleteBudgetAlert',
    tag,
    summary: 'Delete a budget alert',
    response: json(success(open({ id }))),
  },
  [`POST ${alert}/rotate_secret`]: {
    id: 'rotateBudgetAlertSecret',
    tag,
    summary: 'Give a budget alert a new secret',
    description: 'For 24 hours, messages have a signature of the old secret too.',
    response: json(success(budgetAlertWithSecret)),
  },
  [`POST ${alert}/test`]: {
    id: 'testBudgetAlert',
    tag,
    summary: 'Send a test message to the webhook of a budget alert',
    description: 'Once, and without a retry. Its type is `budget.test`.',
    response: json(success(alertTest)),
  },
}
