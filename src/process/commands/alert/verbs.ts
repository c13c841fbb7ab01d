// The verbs of `gatehouse alert`, as rows of the table of commands.

import type { Command } from '../command.ts'
import { access, text } from '../options.ts'

const gateway = { gateway: text('ID', 'the AI gateway; default default') }
const alertSettings = {
  thresholds: text('PERCENT,…', 'at which parts of a limit it is told; default 50,80,95'),
}

export const alertCommands: Readonly<Record<string, Command>> = {
  'alert list': {
    usage: 'alert list [--gateway ID] [OPTION]…',
    summary: 'List the webhooks that are told how much of budgets is spent, and their latest deliveries.',
    options: { ...gateway, ...access },
    load: async () => (await import('./alerts.ts')).list,
  },
  'alert add': {
    usage: 'alert add URL [--thresholds PERCENT,…] [--gateway ID] [OPTION]…',
    summary: 'Tell a webhook when a budget reaches a threshold, and print its secret.',
    options: { ...alertSettings, ...gateway, ...access },
    arg: 'required',
    load: async () => (await import('./alerts.ts')).add,
  },
  'alert set': {
    usage: 'alert set ID [--alert-url URL] [--thresholds PERCENT,…] [--gateway ID] [OPTION]…',
    summary: 'Change the URL or the thresholds of a webhook.',
    options: { 'alert-url': text('URL', 'where it is told'), ...alertSettings, ...gateway, ...access },
    arg: 'required',
    load: async () => (await import('./alerts.ts')).set,
  },
  'alert remove': {
    usage: 'alert remove ID [--gateway ID] [OPTION]…',
    summary: 'Tell a webhook no more.',
    options: { ...gateway, ...access },
    arg: 'required',
    load: async () => (await import('./alerts.ts')).remove,
  },
  'alert test': {
    usage: 'alert test ID [--gateway ID] [OPTION]…',
    summary: 'Send a test message to a webhook; 0 if it is accepted, 1 if not.',
    options: { ...gateway, ...access },
    arg: 'required',
    load: async () => (await import('./alerts.ts')).test,
  },
  'alert rotate': {
    usage: 'alert rotate ID [--gateway ID] [OPTION]…',
    summary: 'Give a webhook a new secret, and print it; the old one signs for another day.',
    options: { ...gateway, ...access },
    arg: 'required',
    load: async () => (await import('./alerts.ts')).rotate,
  },
}
