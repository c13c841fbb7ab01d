// The verbs of `gatehouse token`, as rows of the table of commands.

import type { Command } from '../command.ts'
import { config, json, yes, text, texts } from '../options.ts'
import { spending } from '../spending.ts'

const account = {
  account: text('ID', 'the account; needed only if the store has several'),
}

export const tokenCommands: Readonly<Record<string, Command>> = {
  'token create': {
    usage: 'token create [--name NAME] [--permission NAME]… [OPTION]…',
    summary: 'Create an API token in the store; without --permission it may only call models.',
    options: {
      name: text('NAME', 'the name of the token; default command line'),
      permission: texts('NAME', 'what the token may do; repeatable, default AI Gateway Run'),
      'only-gateway': texts(
        'ID',
        'an AI gateway that the token may call, such as team-*; repeatable, default all',
      ),
      'only-model': texts(
        'MODEL',
        'a model that the token may call, such as openai/gpt-4o*; repeatable, default all',
      ),
      ...spending,
      ...account,
      ...config,
      ...json,
    },
    load: async () => (await import('./tokens.ts')).create,
  },
  'token list': {
    usage: 'token list [OPTION]…',
    summary: 'List the API tokens of the account, without their values.',
    options: { ...account, ...config, ...json },
    load: async () => (await import('./tokens.ts')).list,
  },
  'token set': {
    usage: 'token set ID --spend USD/PERIOD [OPTION]…',
    summary: 'Change what calls with an API token may spend; off removes a limit.',
    options: { ...spending, ...account, ...config, ...json },
    arg: 'required',
    load: async () => (await import('./tokens.ts')).set,
  },
  'token revoke': {
    usage: 'token revoke ID [--yes] [OPTION]…',
    summary: 'Delete an API token, which a running gateway refuses within a second.',
    options: { ...yes, ...account, ...config, ...json },
    arg: 'required',
    load: async () => (await import('./tokens.ts')).revoke,
  },
  'token roll': {
    usage: 'token roll ID [--yes] [OPTION]…',
    summary: 'Give an API token a new value, which is shown only once; the old one is refused.',
    options: { ...yes, ...account, ...config, ...json },
    arg: 'required',
    load: async () => (await import('./tokens.ts')).roll,
  },
  'token generate': {
    usage: 'token generate [--json]',
    summary: 'Print a new token to set as GATEHOUSE_FIRST_TOKEN; it is not stored.',
    options: json,
    load: async () => (await import('./generate.ts')).generate,
  },
}
