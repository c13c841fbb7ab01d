// `gatehouse init`: writes a starter configuration, and the schema for editors beside it.

import { readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { bundledConfig, configName, type Input } from './input.ts'
import { schemaName, schemaText } from './schema.ts'
import { json } from '../terminal/format.ts'
import { print, refuse, tell } from '../terminal/output.ts'

export async function init({ args: [path = configName], json: asJson }: Input): Promise<number> {
  const fault = await writeNew(path, withAddresses(await readFile(bundledConfig(configName), 'utf8')))
  if (fault !== null) return refuse(fault)
  const more = path === configName ? '' : ` --config ${path}`
  tell(
    `${path} is written. ORIGIN=http://127.0.0.1:9000 gatehouse start${more} serves that origin at http://localhost:8080.`,
  )
  const schema = join(dirname(path), schemaName)
  const hasSchema = await writeSchema(schema)
  if (asJson) print(json({ file: path, schema: hasSchema ? schema : null }))
  return 0
}

/** Makes the two addresses active settings: they are what most people change first. */
function withAddresses(text: string): string {
  return text
    .replace(/^#listen:\n {2}#- address:/m, 'listen:\n  - address:')
    .replace(/^#admin: (\S+)$/m, (_, address) => `admin: \${GATEHOUSE_ADMIN:-${address}}`)
}

/** Without the schema only the help of editors is missing. Returns whether the file exists. */
async function writeSchema(path: string): Promise<boolean> {
  const text = schemaText()
  const fault = await writeNew(path, text)
  if (fault === null) tell(`${path} is written: editors use it to complete, explain and check settings.`)
  else if ((await readFile(path, 'utf8').catch(() => null)) !== text) {
    tell(`${fault}. For the help of editors: gatehouse schema > ${path}`)
    return false
  }
  return true
}

async function writeNew(path: string, text: string): Promise<string | null> {
  try {
    await writeFile(path, text, { flag: 'wx' })
    return null
  } catch (cause) {
    const { code, message, syscall } = cause as NodeJS.ErrnoException
    if (code === 'EEXIST') return `${path} is there already: it was left as it is`
    // The next attempt would mistake the partial file for a user's.
    if (syscall === 'write') await rm(path, { force: true })
    return `cannot write ${path}: ${message}`
  }
}
