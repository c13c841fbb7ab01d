// The commands of `gatehouse`: one table, from which help, options and dispatch are made. main.ts calls it.

import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { Input } from './input.ts'
import { print, tell } from './terminal.ts'
import { version } from './version.ts'

interface Command {
  readonly usage: string
  readonly summary: string
  readonly options: NonNullable<ParseArgsConfig['options']>
  /** The most arguments it takes beside its options. */
  readonly args: number
  /** Loads the code of the command, which returns the exit code. */
  readonly load: () => Promise<(input: Input) => number | Promise<number>>
}

const config = { config: { type: 'string' } } as const

const commands: Readonly<Record<string, Command>> = {
  start: {
    usage: 'start [--config PATH]',
    summary: 'Run the gateway.',
    options: config,
    args: 0,
    load: async () => (await import('./commands/start.ts')).start,
  },
  check: {
    usage: 'check [--config PATH]',
    summary: 'Check the configuration and name every mistake.',
    options: config,
    args: 0,
    load: async () => (await import('./commands/check.ts')).check,
  },
  errors: {
    usage: 'errors [CODE] [--accept TYPE]',
    summary: 'Show an error as clients get it, or list them all.',
    options: { accept: { type: 'string' } },
    args: 1,
    load: async () => (await import('./commands/errors.ts')).errors,
  },
  health: {
    usage: 'health [--config PATH]',
    summary: 'Ask the running gateway whether it is alive.',
    options: config,
    args: 0,
    load: async () => (await import('./commands/health.ts')).health,
  },
  token: {
    usage: 'token create [--name NAME] [--permission NAME]… [--account ID] [--config PATH]',
    summary: 'Make an API token in the store; without --permission it may call models.',
    options: {
      ...config,
      name: { type: 'string' },
      account: { type: 'string' },
      permission: { type: 'string', multiple: true },
    },
    args: 1,
    load: async () => (await import('./commands/token.ts')).token,
  },
  store: {
    usage: 'store copy --from URL --to URL',
    summary: `Copy everything into an empty store; a URL may be \${NAME} or file:PATH.`,
    options: { from: { type: 'string' }, to: { type: 'string' } },
    args: 1,
    load: async () => (await import('./commands/store.ts')).store,
  },
  demo: {
    usage: 'demo [--config PATH]',
    summary: 'Run the gateway before an origin that misbehaves on demand.',
    options: config,
    args: 0,
    load: async () => (await import('./commands/demo.ts')).demo,
  },
}

/** Runs the command that the arguments name; returns the exit code, 2 for what is no command of ours. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') return say(help())
  if (name === '--version' || name === '-v') return say(`${version}\n`)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) return complain(`there is no command '${name}'; see gatehouse --help`)
  if (rest.includes('--help')) return say(`Usage: gatehouse ${command.usage}\n\n${command.summary}\n`)
  const input = read(command, rest)
  if (typeof input === 'string') return complain(`${input}; usage: gatehouse ${command.usage}`)
  return (await command.load())(input)
}

/** Returns the input of the command, or what is wrong with the arguments. */
function read({ options, args }: Command, argv: readonly string[]): Input | string {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true })
    if (positionals.length > args) return `unexpected argument '${positionals[args]}'`
    return { ...values, args: positionals }
  } catch (cause) {
    const [sentence = ''] = (cause as Error).message.split('. ')
    return sentence.charAt(0).toLowerCase() + sentence.slice(1)
  }
}

function help(): string {
  const rows = Object.values(commands).map(({ usage, summary }) =>
    usage.length > 30
      ? `  gatehouse ${usage}\n  ${' '.repeat(41)}${summary}`
      : `  gatehouse ${usage.padEnd(30)} ${summary}`,
  )
  return `Gatehouse ${version}, a reverse proxy that answers every failure honestly.

${rows.join('\n')}

The configuration is read from --config, else from the path in GATEHOUSE_CONFIG, else from config/gatehouse.yaml
beside the program. The log goes to stdout, all else that a person reads to stderr.
`
}

function say(text: string): number {
  print(text)
  return 0
}

function complain(sentence: string): number {
  tell(`gatehouse: ${sentence}`)
  return 2
}
