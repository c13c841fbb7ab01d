// The configurations of test/golden/config, each with what becomes of it, and what they refer to.

import { accessSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Surroundings } from '../../src/config/file/references.ts'

const folder = join(import.meta.dirname, '../golden/config')
const dashes = /^-{8,}$\n?/m

export const secret = 's3cret'

export const surroundings: Surroundings = {
  env: {
    ORIGIN: 'http://10.0.0.1:8000',
    HOST: 'a.example',
    PORT: '8000',
    WORKERS: '4',
    EMPTY: '',
    SECRET: secret,
  },
  readFile: path => readFileSync(join(folder, 'files', path), 'utf8'),
  findFile: path => {
    accessSync(join(folder, 'files', path))
    return `/etc/gatehouse/${path}`
  },
}

interface GoldenConfig {
  readonly name: string
  readonly text: string
  /** Members of the result as JSON, or lines of mistakes and warnings. */
  readonly expected: string
}

export const goldenConfigs: readonly GoldenConfig[] = readdirSync(folder)
  .filter(file => file.endsWith('.yaml'))
  .map(file => {
    const [text = '', expected = ''] = readFileSync(join(folder, file), 'utf8').split(dashes)
    return { name: file.replace('.yaml', ''), text, expected }
  })
