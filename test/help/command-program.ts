// Runs commands of `gatehouse` that come as messages, one after another in this one process; command.ts starts it.

import { Readable } from 'node:stream'

export interface Asked {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly input: string
}

const { runCommand } = await import(process.argv[2]!)
const said = { stdout: '', stderr: '' }
for (const name of ['stdout', 'stderr'] as const)
  process[name].write = (text: string | Uint8Array) => {
    said[name] += text
    return true
  }

process.on('disconnect', () => process.exit())
process.on('message', async ({ args, env, input }: Asked) => {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(env, name)) delete process.env[name]
  Object.assign(process.env, env)
  Object.assign(said, { stdout: '', stderr: '' })
  Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from([Buffer.from(input)]) })
  const code = await runCommand(args).catch((bug: Error) => {
    said.stderr += bug.stack
    return 1
  })
  process.send!({ code, ...said })
})
