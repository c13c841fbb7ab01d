// The token of the first start, if given: not by an argument, which every user of the machine sees.

import { readFileSync } from 'node:fs'
import { isWellFormed } from '../../tokens/token.ts'

type Given = { readonly token: string | null } | { readonly mistake: string }

const variable = 'GATEHOUSE_FIRST_TOKEN'
const fileVariable = `${variable}_FILE`

/** A mistake never contains the value. Removes both variables from `env`. */
export function readFirstToken(env: NodeJS.ProcessEnv): Given {
  const { [variable]: value = '', [fileVariable]: path = '' } = env
  delete env[variable]
  delete env[fileVariable]
  if (value !== '' && path !== '') return { mistake: `set ${variable} or ${fileVariable}, not both` }
  if (value !== '') return checked(variable, value)
  return path === '' ? { token: null } : fromFile(path)
}

function fromFile(path: string): Given {
  try {
    return checked(fileVariable, readFileSync(path, 'utf8').replace(/\r?\n$/, ''))
  } catch (cause) {
    return { mistake: `${fileVariable}: cannot read the file (${(cause as NodeJS.ErrnoException).code})` }
  }
}

function checked(name: string, value: string): Given {
  return isWellFormed(value)
    ? { token: value }
    : { mistake: `${name} must be a token as printed by \`gatehouse token generate\`` }
}
