// The vocabulary of other gateways, mapped to ours in one table, so that mistakes in names suggest the
// intended setting.

/**
 * Settings, and their names elsewhere: in lower case, without _ and -, with or without a final s. The first
 * setting that is allowed in the place applies.
 */
const rows: readonly (readonly [settings: readonly string[], names: string])[] = [
  [['zones'], 'server http site vhost virtualhost ingress frontend router hosts'],
  [
    ['keys', 'certificates', 'ai.providers.NAME.keys'],
    'key apikey accesskey authkey secretkey token apitoken',
  ],
  [['url'], 'baseurl apibase base endpoint host address'],
  [['origins', 'pools'], 'server upstream backend target endpoint url member node'],
  [
    ['pool', 'pools'],
    'upstream backend target cluster proxypass reverseproxy service origin forwardto staticresources',
  ],
  [['hosts'], 'servername domain hostname virtualhost host'],
  [['path'], 'prefix location match uri pathprefix'],
  [['routes'], 'location path rule handle upstream backend proxypass reverseproxy'],
  [['listen'], 'port listener bind address entrypoint host'],
  [['providers', 'ai.providers'], 'modellist model llm litellmsettings generalsettings provider'],
  [['default'], 'defaultserver catchall fallback'],
  [['tls'], 'ssl https'],
  [['certificates', 'certificate'], 'cert certificate sslcertificate certfile keyfile'],
  [['auto', 'tls.auto'], 'acme letsencrypt autocert autotls certresolver'],
  [['zones[].tls.redirect', 'tls.redirect'], 'redirect forcehttps httpsredirect redirecthttps'],
  [['zones[].tls.hsts', 'tls.hsts'], 'hsts'],
  [['check', 'pools.NAME.check'], 'health healthcheck healthcheckpath activehealthcheck'],
  [['balance', 'pools.NAME.balance'], 'lb lbpolicy policy strategy algorithm loadbalancer loadbalancing'],
  [['ejection', 'pools.NAME.ejection'], 'maxfails outlierdetection circuitbreaker passivehealthcheck'],
  [['retries', 'pools.NAME.retries'], 'maxretries numretries retry retrypolicy'],
  [['http'], 'protocol httpversion http2'],
  [['verify'], 'insecure insecureskipverify sslverify proxysslverify tlsverify'],
  [['server_name'], 'sni'],
  [
    ['timeouts', 'routes[].timeouts'],
    'timeout readtimeout connecttimeout proxyreadtimeout proxyconnecttimeout',
  ],
  [['body', 'limits.body'], 'clientmaxbodysize maxbodysize bodylimit maxrequestbodysize'],
  [['rate_limits'], 'limitreq ratelimit ratelimiting throttle'],
  [['compression', 'zones[].compression'], 'gzip brotli zstd compress encode'],
  [
    ['rewrite', 'routes[].rewrite', 'zones[].routes[].rewrite'],
    'header requestheader responseheader proxysetheader addheader setheader stripprefix uri pathrewrite prefixrewrite',
  ],
  [['errors', 'pages'], 'errorpage customerror'],
  [['trusted_proxies'], 'trustproxy setrealipfrom realip xffnumtrustedhops forwardedips'],
  [['access', 'rules'], 'allow deny firewall waf iprestriction whitelist blacklist blocklist allowlist'],
  [['log'], 'logging accesslog loglevel logger'],
  [['telemetry'], 'tracing otel opentelemetry trace'],
  [['store'], 'database databaseurl redis redisurl storage'],
  [['shutdown'], 'gracefulshutdown draintimeout graceperiod'],
]

const byName = new Map<string, string[]>()
for (const [settings, names] of rows)
  for (const name of names.split(' '))
    byName.set(plain(name), [...(byName.get(plain(name)) ?? []), ...settings])

/** Returns the setting of a mapping that other gateways call by this name; null for none. */
export function knownElsewhere(name: string, names: readonly string[]): string | null {
  // Caddyfiles begin with the host of a site.
  const settings = byName.get(name.includes('.') ? 'site' : plain(name)) ?? []
  return settings.find(setting => names.includes(/^\w+/.exec(setting)![0])) ?? null
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '').replace(/s$/, '')
}
