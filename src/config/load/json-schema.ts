// The JSON Schema of the configuration file, for editors: derived from the shapes that check the file, and
// described by the comments of the default configuration.

import type { Form } from '../shape/value-schema.ts'
import { schema } from '../settings/schema.ts'
import { Findings, type Place } from '../file/mistake.ts'
import { readTree } from '../file/read-tree.ts'
import type { Tree } from '../file/tree.ts'

/** Returns the schema, described by the comments of `text`, including settings behind a #. */
export function jsonSchema(text: string): Form {
  const whole = withCommented(text)
  const tree = readTree(whole, new Findings())
  const form = schema.form()
  const descriptions = tree ? new Comments(whole.split('\n')).of(form, tree) : new Map<Form, string>()
  const { definitions, root } = new Composition(descriptions).of(form)
  return {
    // The draft that every editor reads. Later ones have nothing that this schema needs.
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...root,
    definitions,
  }
}

/** Returns a configuration with the settings behind a # (right before a word or a hyphen) uncommented. */
export function withCommented(text: string): string {
  return text.replaceAll(/^( *(?:- )?)#(?=[^ \n#])/gm, '$1')
}

/** Finds the comment of each setting. A form in several places is described in the first of them. */
class Comments {
  readonly #lines: readonly string[]
  readonly #byForm = new Map<Form, string>()

  constructor(lines: readonly string[]) {
    this.#lines = lines
  }

  of(form: Form, tree: Tree): ReadonlyMap<Form, string> {
    this.#read(form, tree)
    return this.#byForm
  }

  #read(form: Form, tree: Tree): void {
    for (const one of form.anyOf ?? []) this.#read(one, tree)
    if (tree.kind === 'sequence' && form.items) for (const item of tree.items) this.#read(form.items, item)
    if (tree.kind !== 'mapping') return
    const { properties = {}, additionalProperties } = form
    for (const [key, { key: place, value }] of tree.entries) {
      const of = properties[key] ?? additionalProperties
      if (!of) continue
      if (of !== additionalProperties) this.#note(of, place)
      this.#read(of, value)
    }
  }

  #note(form: Form, place: Place): void {
    const comment = this.#above(place)
    if (comment === '' || this.#byForm.has(form)) return
    // A comment that continues below the setting describes more than that.
    this.#byForm.set(form, /[.:)]$/.test(comment) ? comment : '')
  }

  /** Returns the comment right above a setting that begins its line. */
  #above({ line, column }: Place): string {
    if (!/^ *(?:- )?$/.test(this.#lines[line - 1]!.slice(0, column - 1))) return ''
    const above = this.#lines.slice(0, line - 1)
    const first = above.findLastIndex(text => !/^ *# /.test(text)) + 1
    return above
      .slice(first)
      .map(text => text.trim().slice(2))
      .join(' ')
  }
}

/** Puts a schema together; mappings in several places are written once. */
class Composition {
  readonly #descriptions: ReadonlyMap<Form, string>
  readonly #places = new Map<Form, number>()
  readonly #names = new Map<Form, string>()
  readonly #definitions: Record<string, Form> = {}

  constructor(descriptions: ReadonlyMap<Form, string>) {
    this.#descriptions = descriptions
  }

  of(root: Form): { readonly root: Form; readonly definitions: Readonly<Record<string, Form>> } {
    this.#count(root)
    return { root: this.#write(root), definitions: this.#definitions }
  }

  #count(form: Form): void {
    const places = (this.#places.get(form) ?? 0) + 1
    this.#places.set(form, places)
    if (places === 1) for (const part of partsOf(form)) this.#count(part)
  }

  #compose(form: Form, name: string): Form {
    if (!form.properties || this.#places.get(form) === 1) return this.#write(form, name)
    if (!this.#names.has(form)) {
      const taken = Object.keys(this.#definitions).filter(one => one.replace(/\d+$/, '') === name).length
      const own = taken === 0 ? name : `${name}${taken + 1}`
      this.#names.set(form, own)
      this.#definitions[own] = this.#write(form, name)
    }
    return { $ref: `#/definitions/${this.#names.get(form)}` }
  }

  #write(form: Form, name = ''): Form {
    const { anyOf, items, properties, additionalProperties } = form
    const limits = form.description && `${form.description[0]!.toUpperCase()}${form.description.slice(1)}.`
    const description = [this.#descriptions.get(form), limits].filter(Boolean).join('\n\n')
    const named = Object.entries(properties ?? {}).map(([key, one]) => [key, this.#compose(one, key)])
    return {
      ...form,
      ...(description !== '' && { description }),
      ...(anyOf && { anyOf: anyOf.map(one => this.#compose(one, name)) }),
      ...(items && { items: this.#compose(items, name) }),
      ...(properties && { properties: Object.fromEntries(named) }),
      ...(additionalProperties && { additionalProperties: this.#compose(additionalProperties, name) }),
    }
  }
}

function partsOf({ anyOf = [], items, properties = {}, additionalProperties }: Form): readonly Form[] {
  return [...anyOf, items, ...Object.values(properties), additionalProperties].filter(part => !!part)
}
