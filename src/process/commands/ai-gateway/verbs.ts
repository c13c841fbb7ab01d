// The verbs of `gatehouse gateway`, as rows of the table of commands.

import type { Command } from '../command.ts'
import { access, yes } from '../options.ts'
import { spending } from '../spending.ts'
import { guarding } from './guard.ts'
import { settings } from './settings.ts'

export const gatewayCommands: Readonly<Record<string, Command>> = {
  'gateway list': {
    usage: 'gateway list [OPTION]…',
    summary: 'List the AI gateways of the account.',
    options: access,
    load: async () => (await import('./gateways.ts')).list,
  },
  'gateway show': {
    usage: 'gateway show ID [OPTION]…',
    summary: 'Show the settings of an AI gateway.',
    options: access,
    arg: 'required',
    load: async () => (await import('./gateways.ts')).show,
  },
  'gateway create': {
    usage: 'gateway create ID [OPTION]…',
    summary: 'Create an AI gateway; without options, calls need a token, and no bodies are kept.',
    options: { ...settings, ...guarding, ...spending, ...access },
    arg: 'required',
    load: async () => (await import('./change.ts')).create,
  },
  'gateway set': {
    usage: 'gateway set ID [OPTION]…',
    summary: 'Change settings of an AI gateway; those without an option stay as they are.',
    options: { ...settings, ...guarding, ...spending, ...access },
    arg: 'required',
    load: async () => (await import('./change.ts')).set,
  },
  'gateway responses': {
    usage: 'gateway responses ID [OPTION]…',
    summary: 'Show how many responses an AI gateway has stored, and how many calls they answer.',
    options: access,
    arg: 'required',
    load: async () => (await import('./stored-responses.ts')).show,
  },
  'gateway delete-responses': {
    usage: 'gateway delete-responses ID [--yes] [OPTION]…',
    summary: 'Delete the responses that an AI gateway has stored.',
    options: { ...yes, ...access },
    arg: 'required',
    load: async () => (await import('./stored-responses.ts')).remove,
  },
  'gateway delete': {
    usage: 'gateway delete ID [--yes] [OPTION]…',
    summary: 'Delete an AI gateway and its log entries.',
    options: { ...yes, ...access },
    arg: 'required',
    load: async () => (await import('./gateways.ts')).remove,
  },
}
