// The verbs of `gatehouse log`, as rows of the table of commands.

import type { Command } from '../command.ts'
import { access, flag } from '../options.ts'
import { filters } from './filters.ts'

export const logCommands: Readonly<Record<string, Command>> = {
  'log tail': {
    usage: 'log tail [GATEWAY] [OPTION]…',
    summary: 'Follow the log of AI calls, of all gateways or one, until interrupted.',
    options: { ...filters, ...access, json: flag('print JSON, an entry a line') },
    arg: 'optional',
    load: async () => (await import('./tail.ts')).tail,
  },
}
