// The verbs of `gatehouse policy`, as rows of the table of commands.

import type { Command } from '../command.ts'
import { access, flag, text } from '../options.ts'

const gateway = { gateway: text('ID', 'the AI gateway; default default') }
const committed = { committed: flag('what is in effect, instead of the draft') }

export const policyCommands: Readonly<Record<string, Command>> = {
  'policy list': {
    usage: 'policy list [--gateway ID] [--committed] [OPTION]…',
    summary: 'List the policies of an AI gateway: those of the draft, if there is one.',
    options: { ...gateway, ...committed, ...access },
    load: async () => (await import('./policies.ts')).list,
  },
  'policy add': {
    usage: 'policy add --file PATH [--gateway ID] [OPTION]…',
    summary: 'Add a policy, or a list of them, to the draft.',
    options: { file: text('PATH', 'a file with the policies as JSON'), ...gateway, ...access },
    load: async () => (await import('./policies.ts')).add,
  },
  'policy remove': {
    usage: 'policy remove ID [--gateway ID] [OPTION]…',
    summary: 'Remove a policy from the draft.',
    options: { ...gateway, ...access },
    arg: 'required',
    load: async () => (await import('./policies.ts')).remove,
  },
  'policy commit': {
    usage: 'policy commit [--gateway ID] [OPTION]…',
    summary: 'Put the draft in effect, within a second.',
    options: { ...gateway, ...access },
    load: async () => (await import('./policies.ts')).commit,
  },
  'policy discard': {
    usage: 'policy discard [--gateway ID] [OPTION]…',
    summary: 'Discard the draft; what is in effect stays.',
    options: { ...gateway, ...access },
    load: async () => (await import('./policies.ts')).discard,
  },
  'policy history': {
    usage: 'policy history [--gateway ID] [OPTION]…',
    summary: 'List what was committed, the latest first.',
    options: { ...gateway, ...access },
    load: async () => (await import('./policies.ts')).history,
  },
  'policy budgets': {
    usage: 'policy budgets [--gateway ID] [OPTION]…',
    summary: 'List what is spent of the limits in effect, and how many calls each policy refused.',
    options: { ...gateway, ...access },
    load: async () => (await import('./budgets.ts')).budgets,
  },
  'policy rollback': {
    usage: 'policy rollback COMMIT [--gateway ID] [OPTION]…',
    summary: 'Put the policies of an earlier commit in effect again.',
    options: { ...gateway, ...access },
    arg: 'required',
    load: async () => (await import('./policies.ts')).rollBack,
  },
  'policy simulate': {
    usage: 'policy simulate --file PATH [--gateway ID] [--committed] [OPTION]…',
    summary: 'Show what the draft would decide about a call; 0 if it allows it, 1 if not.',
    options: {
      file: text('PATH', 'a file with the call as JSON: identity, provider, model and metadata'),
      ...gateway,
      ...committed,
      ...access,
    },
    load: async () => (await import('./simulate.ts')).simulate,
  },
}
