// The commands of `gatehouse`: one table for help, options and dispatch.

import { parseArgs } from 'node:util'
import { didYouMean } from '../base/text/nearest.ts'
import type { Command } from './commands/command.ts'
import { access, addresses, admin, config, json, texts, text, flag } from './commands/options.ts'
import { alertCommands } from './commands/alert/verbs.ts'
import { gatewayCommands } from './commands/ai-gateway/verbs.ts'
import { clientCommands } from './commands/client/verbs.ts'
import { logCommands } from './commands/log/verbs.ts'
import { memberCommands } from './commands/member/verbs.ts'
import { policyCommands } from './commands/policy/verbs.ts'
import type { Input } from './commands/input.ts'
import { help, helpFor, helpForVerbs } from './commands/help.ts'
import { suggestedCommand } from './commands/suggestion.ts'
import { NoDataFolder } from './store/location.ts'
import { complain, print, tell } from './terminal/output.ts'
import { tokenCommands } from './commands/token/verbs.ts'
import { versionLine } from './commands/version-command.ts'

const commands: Readonly<Record<string, Command>> = {
  init: {
    usage: 'init [PATH] [--json]',
    summary: 'Write a configuration to start from, gatehouse.yaml in this folder by default.',
    options: json,
    arg: 'optional',
    load: async () => (await import('./commands/init.ts')).init,
  },
  start: {
    usage: 'start [--listen ADDRESS] [--admin ADDRESS] [--replace] [--config PATH]',
    summary: 'Run the gateway.',
    options: {
      ...addresses,
      ...config,
      replace: flag('take over from the gateway running on this machine, without downtime'),
    },
    load: async () => (await import('./commands/start.ts')).start,
  },
  reload: {
    usage: 'reload [--admin ADDRESS] [--config PATH] [--json]',
    summary:
      'Apply the configuration in the running gateway, and report what changed, or why it is rejected.',
    options: { ...admin, ...config, ...json },
    load: async () => (await import('./commands/reload-upgrade.ts')).reload,
  },
  upgrade: {
    usage: 'upgrade [--admin ADDRESS] [--config PATH] [--json]',
    summary: 'Replace the running gateway by a new process from the code and the configuration on disk.',
    options: { ...admin, ...config, ...json },
    load: async () => (await import('./commands/reload-upgrade.ts')).upgrade,
  },
  check: {
    usage: 'check [--listen ADDRESS] [--admin ADDRESS] [--config PATH] [--json]',
    summary: 'Check the configuration and report every mistake.',
    options: { ...addresses, ...config, ...json },
    load: async () => (await import('./commands/check.ts')).check,
  },
  schema: {
    usage: 'schema',
    summary: 'Print the JSON schema of the configuration, for editors.',
    options: {},
    load: async () => (await import('./commands/schema.ts')).schema,
  },
  errors: {
    usage: 'errors [CODE] [--accept TYPE|--json]',
    summary: 'Show an error as clients see it, or list all errors.',
    options: {
      accept: text('TYPE', 'the format, such as text/plain or application/json; default text/markdown'),
      json: flag('print what the list has, as JSON'),
    },
    arg: 'optional',
    load: async () => (await import('./commands/errors.ts')).errors,
  },
  health: {
    usage: 'health [--running] [--admin ADDRESS] [--timeout SECONDS] [--config PATH] [--json]',
    summary: 'Check whether the running gateway is alive.',
    options: {
      ...admin,
      ...config,
      running: flag(
        'check the gateway running with the same GATEHOUSE_DATA, whatever its configuration (Linux only)',
      ),
      timeout: text('SECONDS', 'how long the whole check may take, up to 3600; default 2'),
      ...json,
    },
    load: async () => (await import('./commands/health.ts')).health,
  },
  explain: {
    usage: 'explain --host HOST --address IP [--path PATH] [OPTION]…',
    summary:
      'Show what would happen to a request, without sending it; 0 if it would pass, 1 if not, 2 if unknown.',
    options: {
      host: text('HOST', 'the value of Host'),
      address: text('IP', 'the address that the request comes from'),
      path: text('PATH', 'the path with its query, or an absolute URL; default /'),
      method: text('METHOD', 'default GET'),
      header: texts('FIELD', "such as 'accept: text/html', or @PATH for a file of them; repeatable"),
      'body-size': text('BYTES', 'the size of its body'),
      'client-certificate': text('PATH', 'the certificate of the client, PEM'),
      file: text('PATH', 'a file with its body, of which AI calls need it'),
      zone: text('NAME', 'the zone; default the one that the host leads to'),
      ...access,
    },
    load: async () => (await import('./commands/explain/explain.ts')).explain,
  },
  'account create': {
    usage: 'account create [--name NAME] [--json] [--config PATH]',
    summary: 'Create a further account in the store, with a gateway, and print its id.',
    options: {
      ...config,
      name: text('NAME', 'the name that people see; default Account and a number'),
      ...json,
    },
    load: async () => (await import('./commands/account.ts')).create,
  },
  'account list': {
    usage: 'account list [--json] [--config PATH]',
    summary: 'List the accounts in the store, the oldest first.',
    options: { ...config, ...json },
    load: async () => (await import('./commands/account.ts')).list,
  },
  ...tokenCommands,
  'user invite': {
    usage: 'user invite [EMAIL] [--role ROLE]… [OPTION]…',
    summary: 'Print a one-time link: to become a super administrator, or for EMAIL to join or come back.',
    options: {
      ...config,
      role: texts('ROLE', 'what a new member may do, by the name of a role; repeatable'),
      account: text('ID', 'the account; needed only if the store has several'),
      ...json,
    },
    arg: 'optional',
    load: async () => (await import('./commands/user-invite.ts')).userInvite,
  },
  ...gatewayCommands,
  ...policyCommands,
  ...alertCommands,
  ...logCommands,
  ...clientCommands,
  ...memberCommands,
  'certificates list': {
    usage: 'certificates list [--json] [--config PATH]',
    summary: 'List which certificate each host has, when it expires, and why an order failed.',
    options: { ...config, ...json },
    load: async () => (await import('./commands/certificates.ts')).list,
  },
  'certificates renew': {
    usage: 'certificates renew HOST [--json] [--config PATH]',
    summary: 'Have the running gateway order a new certificate for a host of tls.auto now.',
    options: { ...config, ...json },
    arg: 'required',
    load: async () => (await import('./commands/certificates.ts')).renew,
  },
  'store copy': {
    usage: 'store copy --from URL --to URL [--json]',
    summary: `Copy everything into an empty store, as a backup; a URL may be \${NAME} or file:PATH.`,
    options: {
      from: text('URL', 'the store to copy'),
      to: text('URL', 'an empty store'),
      ...json,
    },
    load: async () => (await import('./commands/store/store.ts')).copy,
  },
  'store move': {
    usage: 'store move --from URL --to URL [--json]',
    summary: 'Copy everything into an empty store to go on there: the old one confirms no more changes.',
    options: {
      from: text('URL', 'the store to leave'),
      to: text('URL', 'an empty store'),
      ...json,
    },
    load: async () => (await import('./commands/store/store.ts')).move,
  },
  'store accept': {
    usage: 'store accept [--json] [--config PATH]',
    summary: 'Have this machine trust its store as it is now, after it came back empty, older or as another.',
    options: { ...config, ...json },
    load: async () => (await import('./commands/store/accept.ts')).storeAccept,
  },
  demo: {
    usage: 'demo [--listen ADDRESS] [--admin ADDRESS] [--config PATH]',
    summary: 'Run the gateway in front of an origin that misbehaves on demand.',
    options: {
      ...addresses,
      config: {
        ...config.config,
        help: "the configuration file; default config/demo.yaml in the program's folder",
      },
    },
    load: async () => (await import('./commands/demo.ts')).demo,
  },
  version: {
    usage: 'version [--json]',
    summary: 'Print the version, and the commit where it is known; --version does, too.',
    options: json,
    load: async () => (await import('./commands/version-command.ts')).showVersion,
  },
}

export async function runCommand(argv: readonly string[]): Promise<number> {
  const [name] = argv
  if (name === 'help' && argv.length > 1) return runCommand([...argv.slice(1), '--help'])
  if (name === undefined || isHelp(name) || name === 'help') return say(help(commands))
  if (name === '--version' || name === '-v') return say(`${versionLine()}\n`)
  const match = find(argv)
  if (!match) return helpWithNoun(argv)
  const { command, rest } = match
  if (rest.some(isHelp)) return say(helpFor(command))
  const input = read(command, rest)
  if (typeof input === 'string') {
    const isQuestion = input.endsWith('?')
    return complain(`${input}${isQuestion ? ' Usage' : '; usage'}: gatehouse ${command.usage}`)
  }
  // Child processes find it there as well.
  if (input.data !== undefined) process.env.GATEHOUSE_DATA = input.data
  try {
    return await (await command.load())(input)
  } catch (cause) {
    if (cause instanceof NoDataFolder) return complain(cause.message)
    throw cause
  }
}

function find(argv: readonly string[]): { command: Command; rest: readonly string[] } | null {
  for (const words of [2, 1]) {
    const name = argv.slice(0, words).join(' ')
    if (Object.hasOwn(commands, name)) return { command: commands[name]!, rest: argv.slice(words) }
  }
  return null
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h'
}

function helpWithNoun([noun, verb]: readonly string[]): number {
  const verbs = Object.keys(commands).filter(name => name.startsWith(`${noun} `))
  if (verbs.length > 0 && (verb === undefined || isHelp(verb))) {
    const rows = helpForVerbs(verbs.map(name => commands[name]!))
    if (verb !== undefined) return say(rows)
    tell(rows.trimEnd())
    return 2
  }
  const isNoun = verbs.length > 0
  const words = isNoun ? `${noun} ${verb}` : noun!
  const meant = suggestedCommand([noun!, verb], Object.keys(commands))
  const hint =
    meant === null
      ? `; see gatehouse${isNoun ? ` ${noun}` : ''} --help`
      : `; did you mean gatehouse ${meant}?`
  return complain(`unknown command '${words}'${hint}`)
}

function read({ options, arg }: Command, argv: readonly string[]): Input | string {
  try {
    const given = { args: [...argv], options, allowPositionals: true, tokens: true } as const
    const { values, positionals, tokens } = parseArgs(given)
    const names = tokens.flatMap(token => (token.kind === 'option' ? [token.name] : []))
    const twice = names.find((name, i) => isSingle(options[name]!) && names.indexOf(name) < i)
    if (twice !== undefined) return `--${twice} is given twice`
    // As of a variable of the shell that is not set: what lies elsewhere must not take its place.
    const empty = ['config', 'data'].find(name => values[name] === '')
    if (empty !== undefined) return `--${empty} must not be empty`
    const unexpected = positionals[arg === undefined ? 0 : 1]
    if (unexpected !== undefined) return `unexpected argument '${unexpected}'`
    if (arg === 'required' && positionals.length === 0) return 'missing argument'
    return { ...values, args: positionals }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const [, hyphened] = /^Option '(\S+)' argument is ambiguous/.exec(message) ?? []
    if (hyphened !== undefined)
      return `${hyphened} needs a value: one that begins with a hyphen is written ${hyphened}=VALUE`
    const [sentence = ''] = message.split(/\.\s/)
    const optionNames = Object.keys(options).map(name => `--${name}`)
    const [, unknown = ''] = (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' && /'(.*)'/s.exec(sentence)) || []
    return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}${didYouMean(unknown, optionNames)}`
  }
}

function isSingle({ type, multiple = false }: Command['options'][string]): boolean {
  return type === 'string' && !multiple
}

function say(text: string): number {
  print(text)
  return 0
}
