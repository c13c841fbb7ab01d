// `gatehouse schema`: prints the JSON Schema of the configuration file, for editors.

import { existsSync, readFileSync } from 'node:fs'
import { jsonSchema } from '../../config/load/json-schema.ts'
import { bundledConfig, configName } from './input.ts'
import { print } from '../terminal/output.ts'

export const schemaName = 'gatehouse.schema.json'

export function schema(): number {
  print(schemaText())
  return 0
}

export function schemaText(): string {
  const path = bundledConfig(configName)
  const explained = existsSync(path) ? readFileSync(path, 'utf8') : ''
  return `${JSON.stringify(jsonSchema(explained), null, 2)}\n`
}
