// Objects of Kubernetes: whether their fields are those of its API, and what the chart renders.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { readTemplates } from './go-template.ts'
import { quickFolder } from './quick-folder.ts'
import { root } from './source.ts'

export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  // biome-ignore lint/suspicious/noExplicitAny: each kind has another shape, which typeFaults looks at.
  readonly spec: any
  readonly data?: Readonly<Record<string, string>>
}

const manifests = join(root, 'deploy/kubernetes')
const chart = join(root, 'deploy/helm/gatehouse')

/** Returns the objects that the kustomization lists, each from its file. */
export function readManifests(): readonly KubernetesObject[] {
  const { resources } = parse(readFileSync(join(manifests, 'kustomization.yaml'), 'utf8'))
  return (resources as string[]).flatMap(file => documentsOf(readFileSync(join(manifests, file), 'utf8')))
}

/** Renders the chart as a release of this name would, with these values in place of the defaults. */
export function renderChart(
  release: string,
  given: Readonly<Record<string, unknown>> = {},
): readonly KubernetesObject[] {
  const files = new Map(
    readdirSync(join(chart, 'templates')).map(file => [
      file,
      readFileSync(join(chart, 'templates', file), 'utf8'),
    ]),
  )
  const { name, version, appVersion } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'))
  const dot = {
    Values: { ...chartValues(), ...given },
    Chart: { Name: name, Version: version, AppVersion: appVersion },
    Release: { Name: release, Namespace: 'gatehouse', Service: 'Helm' },
  }
  const render = readTemplates(files)
  const notes = render('NOTES.txt', dot)
  if (notes.includes('{{')) throw new Error('NOTES.txt is not rendered')
  return [...files.keys()]
    .filter(file => file.endsWith('.yaml'))
    .flatMap(file => documentsOf(render(file, dot)))
}

export function chartValues(): Record<string, unknown> {
  return parse(readFileSync(join(chart, 'values.yaml'), 'utf8'))
}

/** Returns what the types of the Kubernetes API have against these objects: unknown and missing fields, values of another type. */
export function typeFaults(t: TestContext, objects: readonly KubernetesObject[]): string {
  const folder = quickFolder(t, 'kubernetes')
  const lines = objects.map((object, n) => {
    const { apiVersion, kind } = object
    return `import type { I${kind} as T${n} } from 'kubernetes-models/${apiVersion}'\nexport const o${n}: T${n} = ${JSON.stringify(object, null, 1)}\n`
  })
  const options = {
    module: 'nodenext',
    target: 'esnext',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: ['objects.ts'] }),
  )
  writeFileSync(join(folder, 'objects.ts'), lines.join('\n'))
  const { stdout, error } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], {
    encoding: 'utf8',
  })
  if (error) throw error
  return stdout
}

function documentsOf(yaml: string): readonly KubernetesObject[] {
  return parseAllDocuments(yaml)
    .map(document => {
      if (document.errors.length > 0) throw document.errors[0]
      return document.toJS() as KubernetesObject
    })
    .filter(object => object !== null)
}
