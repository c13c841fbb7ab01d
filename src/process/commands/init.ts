// `gatehouse init`: writes a configuration to start from, which explains each of its settings.

import { readFile, writeFile } from 'node:fs/promises'
import { bundledConfig, configName, type Input } from './input.ts'
import { tell } from './terminal.ts'

export async function init({ args: [path = configName] }: Input): Promise<number> {
  try {
    await writeFile(path, await readFile(bundledConfig(configName)), { flag: 'wx' })
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    tell(
      code === 'EEXIST'
        ? `${path} is there already: it was left as it is`
        : `cannot write ${path}: ${message}`,
    )
    return 1
  }
  const more = path === configName ? '' : ` --config ${path}`
  tell(
    `${path} is written. ORIGIN=http://127.0.0.1:9000 gatehouse start${more} serves that origin at http://localhost:8080.`,
  )
  return 0
}
