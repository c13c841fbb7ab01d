// deploy/kubernetes and the Helm chart: what a cluster would be given, without one.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { parse as load } from 'yaml'
import { parse } from '../../src/config/load/parse.ts'
import {
  chartValues,
  type KubernetesObject,
  readManifests,
  renderChart,
  typeFaults,
} from '../help/kubernetes.ts'
import { root } from '../help/source.ts'

const manifests = readManifests()
const everything = {
  image: {
    repository: 'registry.example/gatehouse',
    tag: '1.2.3',
    pullPolicy: 'Always',
    pullSecrets: ['registry'],
  },
  tlsSecret: 'shop-tls',
  autoscaling: { enabled: false },
  service: {
    type: 'NodePort',
    annotations: { 'example.com/internal': 'true' },
    externalTrafficPolicy: 'Cluster',
    ports: { http: 8080, https: 8443 },
  },
  networkPolicy: { enabled: true, adminFrom: [{ team: 'ops' }, { team: 'watch', stage: 'live' }] },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'edge', operator: 'Exists' }],
}
const releases: Readonly<Record<string, readonly KubernetesObject[]>> = {
  'deploy/kubernetes': manifests,
  'the chart': renderChart('blue'),
  'the chart with all that it can': renderChart('blue', everything),
}

test('every field of every object is one that Kubernetes has', t => {
  assert.equal(typeFaults(t, Object.values(releases).flat()), '')
})

test('a field that Kubernetes does not have would be seen', t => {
  const [first, ...others] = structuredClone(manifests).filter(({ kind }) => kind === 'Deployment')
  first!.spec.template.spec.containers[0].readinesProbe = {}
  assert.match(typeFaults(t, [first!, ...others]), /readinesProbe/)
})

test('the chart renders what deploy/kubernetes has', () => {
  const own = ['app.kubernetes.io/name', 'app.kubernetes.io/instance']
  const bare = (objects: readonly KubernetesObject[]) =>
    objects
      .filter(({ kind }) => kind !== 'Namespace')
      .map(({ metadata: { name, labels }, data, ...rest }) => ({
        ...rest,
        name,
        labels: own.map(label => labels[label]),
        data: data && load(data['gatehouse.yaml']!),
      }))
      .toSorted((a, b) => `${a.kind} ${a.name}`.localeCompare(`${b.kind} ${b.name}`))
  assert.deepEqual(bare(renderChart('gatehouse')), bare(manifests))
})

for (const [release, objects] of Object.entries(releases)) {
  const one = (kind: string, name = /(?<!admin)$/) =>
    objects.find(object => object.kind === kind && name.test(object.metadata.name))!
  const pod = one('Deployment').spec.template
  const [container] = pod.spec.containers
  const portNames: string[] = container.ports.map(({ name }: { name: string }) => name)

  test(`${release}: everything finds the pods, and their ports`, () => {
    const labels = pod.metadata.labels
    const selectors = [
      one('Deployment').spec.selector.matchLabels,
      one('Service').spec.selector,
      one('Service', /-admin$/).spec.selector,
      one('PodDisruptionBudget').spec.selector.matchLabels,
      one('NetworkPolicy').spec.podSelector.matchLabels,
      pod.spec.topologySpreadConstraints[0].labelSelector.matchLabels,
    ]
    for (const selector of selectors) assert.deepEqual(selector, labels)
    const asked: string[] = [
      ...objects.filter(({ kind }) => kind === 'Service').flatMap(({ spec }) => spec.ports),
      ...one('NetworkPolicy').spec.ingress.flatMap(({ ports }: { ports: object[] }) => ports),
    ].map(({ targetPort, port }) => targetPort ?? port)
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
      asked.push(container[probe].httpGet.port)
    assert.deepEqual(new Set(asked), new Set(portNames))
    const scaled = one('HorizontalPodAutoscaler')?.spec.scaleTargetRef
    if (scaled) assert.deepEqual([scaled.kind, scaled.name], ['Deployment', one('Deployment').metadata.name])
    else assert.ok(one('Deployment').spec.replicas >= 2)
  })

  test(`${release}: mounted files are readable, and only the volumes are writable`, () => {
    const names = (list: readonly { name: string }[]) => list.map(({ name }) => name).toSorted()
    assert.deepEqual(names(container.volumeMounts), names(pod.spec.volumes))
    const config = pod.spec.volumes.find(({ name }: { name: string }) => name === 'config')
    assert.equal(config.configMap.name, one('ConfigMap').metadata.name)
    assert.equal(pod.spec.serviceAccountName, one('ServiceAccount').metadata.name)
    // What the Pod Security Standard "restricted" asks for.
    assert.partialDeepStrictEqual(pod.spec.securityContext, {
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')
    assert.match(dockerfile, new RegExp(`^USER ${pod.spec.securityContext.runAsUser}:`, 'm'))
  })

  test(`${release}: the configuration is right, and streams have the time that it promises`, () => {
    const yaml = one('ConfigMap').data!['gatehouse.yaml']!
    const env = { STORE: 'redis://redis', GATEHOUSE_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') }
    // As the image sets it.
    const all = { ...env, GATEHOUSE_ADMIN: '0.0.0.0:8081' }
    const parsed = parse(yaml, { env: all, readFile: assert.fail, findFile: path => path })
    assert.deepEqual(parsed, { config: 'config' in parsed && parsed.config, warnings: [] })
    const pause = Number(container.lifecycle.preStop.exec.command[1])
    assert.ok(pod.spec.terminationGracePeriodSeconds > pause + 30)
    const example = readFileSync(join(root, 'deploy/kubernetes/secret.env.example'), 'utf8')
    for (const name of Object.keys(env)) assert.match(example, new RegExp(`^${name}=`, 'm'))
  })
}

test('the chart takes the values that it has, and names those that it does not', () => {
  const schema = JSON.parse(readFileSync(join(root, 'deploy/helm/gatehouse/values.schema.json'), 'utf8'))
  const isValid = new Ajv().compile(schema)
  assert.ok(isValid(chartValues()), JSON.stringify(isValid.errors))
  assert.ok(isValid({ ...chartValues(), ...everything }), JSON.stringify(isValid.errors))
  for (const wrong of [{ replica: 2 }, { replicas: '2' }, { service: { type: 'Balancer' } }, { secret: '' }])
    assert.ok(!isValid({ ...chartValues(), ...wrong }), JSON.stringify(wrong))
})

test('chart, image and package have one version', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const chart = load(readFileSync(join(root, 'deploy/helm/gatehouse/Chart.yaml'), 'utf8'))
  assert.equal(chart.appVersion, version)
  const tags = new Set(
    manifests
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ spec }) => spec.template.spec.containers[0].image),
  )
  assert.deepEqual([...tags], [`gatehouse:${version}`])
})
