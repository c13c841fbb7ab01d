// The verbs of `gatehouse member`, as rows of the table of commands.

import type { Command } from '../command.ts'
import { access, text, texts, yes } from '../options.ts'

const role = texts('ROLE', 'what the member may do, by the name or id of a role; repeatable')

const status = text('WHICH', 'only accepted or only pending ones')

export const memberCommands: Readonly<Record<string, Command>> = {
  'member list': {
    usage: 'member list [OPTION]…',
    summary: 'List the members of the account, and who is invited.',
    options: { status, ...access },
    load: async () => (await import('./members.ts')).list,
  },
  'member invite': {
    usage: 'member invite EMAIL --role ROLE [OPTION]…',
    summary: 'Invite a person; the link to hand over is shown only once.',
    options: { role, ...access },
    arg: 'required',
    load: async () => (await import('./members.ts')).invite,
  },
  'member update': {
    usage: 'member update EMAIL --role ROLE [OPTION]…',
    summary: 'Replace the roles of a member; EMAIL may be the id of the member.',
    options: { role, ...access },
    arg: 'required',
    load: async () => (await import('./members.ts')).update,
  },
  'member remove': {
    usage: 'member remove EMAIL [--yes] [OPTION]…',
    summary: 'Remove a member; EMAIL may be the id of the member.',
    options: { ...yes, ...access },
    arg: 'required',
    load: async () => (await import('./members.ts')).remove,
  },
  'member roles': {
    usage: 'member roles [OPTION]…',
    summary: 'List the roles that members can have.',
    options: access,
    load: async () => (await import('./members.ts')).listRoles,
  },
}
