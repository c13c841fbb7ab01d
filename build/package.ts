// Builds the package that is shipped, in `dist`: the program in a few files of JavaScript, since Node strips types of no package that is installed, and
// one file starts faster and takes less memory than 1,000. Packages that few configurations need stay outside, as its dependencies.

import { build, type Plugin } from 'esbuild'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const to = resolve(root, process.argv[2] ?? 'dist')
// Read before anything else is: what changes while it is built makes the package stale.
const { stampName, stampOf } = await import(join(root, 'bin/built.js'))
const stamp: string = stampOf(root)
const outside = [
  '@simplewebauthn/server',
  'acme-client',
  'aws4',
  'ioredis',
  'oidc-provider',
  'openid-client',
  'tldts',
  'undici',
]

/** Reads the sources as they are best started. */
const sources: Plugin = {
  name: 'sources',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
      contents: withoutImportsOfNode(asciiOnly(readFileSync(path, 'utf8'))),
      loader: 'ts',
    })),
}

/** Escapes the characters that esbuild leaves in tagged templates: V8 keeps a file with one that is not of Latin-1 in two bytes each. */
function asciiOnly(source: string): string {
  return source.replace(/[\u0080-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Takes what is imported from Node by a call: of a module that is imported, Node reads all that it exports, which for `node:fs` and `node:crypto` loads modules that nobody needs. */
function withoutImportsOfNode(source: string): string {
  return source.replace(/^import \{([^}]*)\} from '(node:[^']+)'$/gm, (_, names: string, module: string) => {
    const values = names.replace(/\btype [^,]*(,|$)/g, '').replace(/(\w+) as (\w+)/g, '$1: $2')
    return `const {${values}} = process.getBuiltinModule('${module}')`
  })
}

rmSync(to, { recursive: true, force: true })
const { metafile } = await build({
  absWorkingDir: root,
  // All in one folder, so that what is found beside a file of the sources is found beside each of these.
  entryPoints: {
    main: 'src/main.ts',
    'edge-worker': 'src/process/workers/edge-worker.ts',
    'thread-program': 'src/store/sqlite/logs/thread-program.ts',
    'sender-program': 'src/log-export/sender-program.ts',
  },
  outdir: to,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  external: outside,
  // Names stay, for stack traces; the maps lead to the lines of the sources where Node runs with --enable-source-maps.
  minifySyntax: true,
  minifyWhitespace: true,
  sourcemap: 'linked',
  sourcesContent: false,
  plugins: [sources],
  metafile: true,
  logLevel: 'warning',
  // For packages in CommonJS.
  banner: {
    js: "import{createRequire as gatehouseRequire}from'node:module';const require=gatehouseRequire(import.meta.url);",
  },
})

for (const folder of ['bin', 'config']) cpSync(join(root, folder), join(to, folder), { recursive: true })
mkdirSync(join(to, 'assets'))
for (const path of globSync('src/dashboard/assets/*.{css,js}', { cwd: root }))
  cpSync(join(root, path), join(to, path.slice('src/dashboard/'.length)))
for (const path of ['src/people/passwords/common-passwords.txt', 'LICENSE', 'SECURITY.md'])
  if (existsSync(join(root, path))) cpSync(join(root, path), join(to, path.split('/').at(-1)!))
mkdirSync(join(to, 'docs'))
for (const path of globSync('docs/*.md', { cwd: root, exclude: ['docs/screenshots.md'] }))
  cpSync(join(root, path), join(to, path))
cpSync(join(root, 'build/README.md'), join(to, 'README.md'))

const { private: _, scripts, devDependencies, overrides, allowScripts, ...published } = manifestOf(root)
const dependencies = Object.fromEntries(outside.map(name => [name, published.dependencies[name]]))
const manifest = { ...published, dependencies, gitHead: commit() }
writeFileSync(join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
chmodSync(join(to, 'main.js'), 0o755)
writeFileSync(join(to, 'LICENSES.txt'), licenses())
writeFileSync(join(to, stampName), stamp)

/** Returns the commit that this is built from; undefined where that is not known. */
function commit(): string | undefined {
  const { status, stdout } = spawnSync('git', ['-C', root, 'rev-parse', 'HEAD'], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : process.env.COMMIT || undefined
}

/** Returns the licenses of the packages that became part of the program. */
function licenses(): string {
  const folders = new Set(
    Object.keys(metafile.inputs).flatMap(path => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  )
  return [...folders]
    .sort()
    .map(folder => {
      const { name, version, license } = manifestOf(join(root, folder))
      const texts = globSync('{LICENSE,LICENCE,license,NOTICE}*', { cwd: join(root, folder) })
      const text = texts.map(file => readFileSync(join(root, folder, file), 'utf8').trim())
      return [`${name} ${version} (${license})`, ...text].join('\n\n')
    })
    .join(`\n\n${'-'.repeat(80)}\n\n`)
    .concat('\n')
}

function manifestOf(folder: string) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
