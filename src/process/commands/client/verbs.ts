// The verbs of `gatehouse client`, as rows of the table of commands.

import type { Command } from '../command.ts'
import { access, flag, yes } from '../options.ts'
import { changes, filters, settings } from './settings.ts'

export const clientCommands: Readonly<Record<string, Command>> = {
  'client create': {
    usage: 'client create --name NAME --redirect-uri URI --scope ID [OPTION]…',
    summary: 'Create an OAuth client; its secret is shown only once.',
    options: { ...settings, ...access },
    load: async () => (await import('./changes.ts')).create,
  },
  'client list': {
    usage: 'client list [OPTION]…',
    summary: 'List the OAuth clients of the account.',
    options: { ...filters, ...access },
    load: async () => (await import('./view.ts')).list,
  },
  'client show': {
    usage: 'client show ID [OPTION]…',
    summary: 'Show an OAuth client, and the DNS record that proves its domain.',
    options: access,
    arg: 'required',
    load: async () => (await import('./view.ts')).show,
  },
  'client update': {
    usage: 'client update ID [OPTION]…',
    summary: 'Change settings of an OAuth client; repeatable options replace the whole list.',
    options: { ...changes, ...access },
    arg: 'required',
    load: async () => (await import('./changes.ts')).update,
  },
  'client rotate': {
    usage: 'client rotate ID [OPTION]…',
    summary: 'Issue a second secret; the first one keeps working.',
    options: access,
    arg: 'required',
    load: async () => (await import('./actions.ts')).rotate,
  },
  'client drop-old-secret': {
    usage: 'client drop-old-secret ID [OPTION]…',
    summary: 'Delete the older of two secrets.',
    options: access,
    arg: 'required',
    load: async () => (await import('./actions.ts')).dropOldSecret,
  },
  'client verify': {
    usage: 'client verify ID [--wait] [OPTION]…',
    summary: 'Check DNS now for the record that proves the domain; restarts a failed verification.',
    options: { wait: flag('wait until it is verified or has failed'), ...access },
    arg: 'required',
    load: async () => (await import('./actions.ts')).verify,
  },
  'client publish': {
    usage: 'client publish ID [--yes] [OPTION]…',
    summary: 'Make an OAuth client public; this is irreversible.',
    options: { ...yes, ...access },
    arg: 'required',
    load: async () => (await import('./actions.ts')).publish,
  },
  'client events': {
    usage: 'client events ID [--failed] [OPTION]…',
    summary: 'List what happened when users connected an OAuth client, and why it failed.',
    options: { failed: flag('only what failed'), ...access },
    arg: 'required',
    load: async () => (await import('./view.ts')).events,
  },
  'client delete': {
    usage: 'client delete ID [--yes] [OPTION]…',
    summary: 'Delete an OAuth client and revoke its grants.',
    options: { ...yes, ...access },
    arg: 'required',
    load: async () => (await import('./actions.ts')).remove,
  },
}
