// Reads the configuration from its file, with the environment and the files that it refers to.

import { isUtf8 } from 'node:buffer'
import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Parsed, parse } from './parse.ts'
import type { GivenAddresses } from '../resolve/address-overrides.ts'
import { FileFault, type Surroundings } from '../file/references.ts'

/** The files are absolute paths, unreadable ones included; not those that are read elsewhere. */
export type Loaded = Parsed & { readonly files: readonly string[] }

interface Circumstances {
  /** Addresses that override those in the file. */
  readonly given?: GivenAddresses
  /** The mistakes in files that are read elsewhere, by absolute path. */
  readonly faults?: ReadonlyMap<string, string>
}

/** Loads a configuration; never throws, since an unreadable file is a mistake like any other. */
export function loadConfig(
  path: string,
  env: Surroundings['env'] = process.env,
  { given = {}, faults = new Map() }: Circumstances = {},
): Loaded {
  const file = absolute(path)
  const files = new Set([file])
  const readFile = (reference: string): string => {
    const referred = resolve(dirname(file), reference)
    files.add(referred)
    return readFileSync(referred, 'utf8')
  }
  const findFile = (reference: string): string => {
    const referred = resolve(dirname(file), reference)
    // Existing files are watched too; a missing one may appear later and make the configuration valid.
    files.add(referred)
    refuseUnreadable(referred)
    files.delete(referred)
    const fault = faults.get(referred)
    if (fault !== undefined) throw new FileFault(fault)
    return referred
  }
  const writtenAt = (reference: string): number => statSync(resolve(dirname(file), reference)).mtimeMs
  return { ...readAndParse(file, { env, readFile, findFile, writtenAt }, given), files: [...files] }
}

/** Leaves a relative path as it is where the working folder was removed: nothing can be read there. */
function absolute(path: string): string {
  try {
    return resolve(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return path
  }
}

function readAndParse(file: string, surroundings: Surroundings, given: GivenAddresses): Parsed {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (error) {
    return refuse(1, 1, `the file cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  const text = bytes.toString('utf8')
  return isUtf8(bytes) ? parse(text, surroundings, given) : refuseEncoding(text)
}

function refuseUnreadable(file: string): void {
  accessSync(file, constants.R_OK)
  if (statSync(file).isDirectory()) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' })
}

function refuseEncoding(text: string): Parsed {
  const before = text.slice(0, text.indexOf('\uFFFD')).split('\n')
  return refuse(before.length, before.at(-1)!.length + 1, 'invalid UTF-8 from here on')
}

function refuse(line: number, column: number, message: string): Parsed {
  return { mistakes: [{ line, column, path: '', message }] }
}
