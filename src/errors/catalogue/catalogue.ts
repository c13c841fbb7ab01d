// Every error that the gateway raises, one row each: pure data. Records, pages, previews, metric labels and
// tests are all generated from these rows, and from those of `preview-only.ts`.

import { previewOnly } from './preview-only.ts'

export type ErrorCategory =
  | 'origin'
  | 'cloudflare'
  | 'ssl'
  | 'access_denied'
  | 'rate_limit'
  | 'dns'
  | 'config'
  | 'tls'
  | 'legal'
  | 'worker'
  | 'rewrite'
  | 'snippet'
  | 'unsupported'

/** Where a request was stopped on its way from the client to the origin. */
export type Stage = 'client' | 'gateway' | 'origin'

export interface ErrorRow {
  readonly code: number
  readonly status: number
  readonly title: string
  readonly category: ErrorCategory
  /** Seconds to wait, unless the refusal has its own; null when a retry does not help. */
  readonly retryAfter: number | null
  readonly ownerActionRequired: boolean
  readonly stage: Stage
  /** For the client: what happened, and who is responsible. */
  readonly detail: string
  /** For the client: what to do next; `{retry_after}` stands for the seconds to wait, which may be 1. */
  readonly guidance: string
  /** For the operator, as is `remedy`: when it occurs. */
  readonly cause: string
  readonly remedy: string
}

type Defaulted = 'status' | 'retryAfter' | 'ownerActionRequired' | 'stage'

/** What most errors of a category have in common. */
const usual: Partial<Record<ErrorCategory, Partial<Pick<ErrorRow, Defaulted>>>> = {
  origin: { stage: 'origin', retryAfter: 120 },
  ssl: { stage: 'origin' },
  access_denied: { status: 403 },
  tls: { status: 403, stage: 'client' },
  legal: { status: 451 },
  rewrite: { status: 500 },
  snippet: { status: 500 },
  unsupported: { stage: 'client' },
}

/** A row as written below: only what differs from its category and the defaults in `rowOf`. */
type Entry = Omit<ErrorRow, Defaulted> & Partial<Pick<ErrorRow, Defaulted>>

/** The errors of the interface that this version raises, by name. */
const catalogue = {
  internal_server_error: {
    code: 500,
    title: 'Internal server error',
    category: 'cloudflare',
    retryAfter: 30,
    ownerActionRequired: false,
    detail:
      'The gateway failed while it handled your request. The fault is in the gateway, not in your request, and the server behind it may never have seen it.',
    guidance:
      '**Wait and retry.** Send the request again after at least {retry_after} s. If the error persists, send the ray ID to the operator of the gateway, who can find the failure in its log.',
    cause:
      'An unexpected exception in the gateway while it served a request, or a failure of this machine while it connected to an origin, such as too many open files.',
    remedy:
      'Look up the ray ID in the log. An entry with an exception and its stack is a bug of Gatehouse: please report it. Without one, check the limits of this machine, such as open files.',
  },
  origin_bad_gateway: {
    code: 502,
    title: 'Bad gateway',
    category: 'origin',
    retryAfter: 60,
    detail:
      'The origin server sent a response that the gateway cannot forward as correct HTTP. The origin server is responsible; your request was valid.',
    guidance:
      '**Wait and retry.** Make the next attempt no sooner than {retry_after} s from now. The origin server has already seen the request, so check before you repeat anything that must not happen twice. If the error persists, the operator of the origin server must fix its responses.',
    cause:
      'The framing of a response is invalid (Content-Length and Transfer-Encoding contradict each other, a chunk is malformed, there is a body where none is allowed), or the origin switched protocols without being asked, or to one other than WebSocket. Once part of the response has been relayed, the client sees a cut connection or, in an event stream, a last event.',
    remedy:
      'Send the request to the origin directly, look at Content-Length, Transfer-Encoding and the chunk sizes in its response, and check what handles upgrade requests there.',
  },
  origin_gateway_timeout: {
    code: 504,
    title: 'Gateway time-out',
    category: 'origin',
    detail:
      'The time allowed for this request ran out while the gateway was still waiting for a connection to, or a response from, the origin server. The origin server is too slow or too busy.',
    guidance:
      '**Wait and retry.** Leave at least {retry_after} s before the next attempt, and lengthen the pause each time. If the error persists, the origin server needs more capacity, or the request more time from the operator of the gateway.',
    cause:
      'No response head arrived within timeouts.total (ai.timeouts.total for an AI provider), which counts from the first attempt to get a connection, over all attempts. Or the request was queued for a connection to its origin longer than the queue timeout of the pool or provider.',
    remedy:
      'Compare those limits with how long the origin takes, uploads included, and look at its load. If timeouts.response ends first, the error is 524 instead.',
  },
  origin_unknown_error: {
    code: 520,
    title: 'Web server is returning an unknown error',
    category: 'origin',
    retryAfter: 60,
    detail:
      'The origin server accepted the connection for your request and then closed it, or sent something that is not a valid HTTP response. The origin server is responsible.',
    guidance:
      '**Wait and retry.** Try again in {retry_after} s or later. The origin server may have acted on the request before it failed, so make sure that repeating it is harmless. If the error persists, the operator of the origin server must look for crashes in its log.',
    cause:
      'The origin reset or closed the connection before its response was complete, or sent a response head that cannot be parsed or is over 64 KiB. Once part of the response has been relayed, the client sees a cut connection or, in an event stream, a last event.',
    remedy:
      'Look in the log of the origin for a crash or a restart at the time given. Check the size of its response headers (cookies above all) and that the port speaks HTTP.',
  },
  origin_down: {
    code: 521,
    title: 'Web server is down',
    category: 'origin',
    detail:
      'The origin server refused the connection from the gateway. Most likely the web server there is stopped or restarting; your request was not delivered to it.',
    guidance:
      '**Wait and retry.** Nothing was delivered, so the same request can safely be sent again after {retry_after} s. If the origin server stays down, its operator must start it or let the gateway connect.',
    cause: 'The origin refused the TCP connection, or reset it while it was being opened.',
    remedy:
      'Check that the origin runs, that it listens on the configured address and port, and that no firewall rejects the gateway.',
  },
  connection_timeout: {
    code: 522,
    title: 'Connection timed out',
    category: 'origin',
    detail:
      'The gateway tried to connect to the origin server, and the origin server did not respond in time. The origin server is overloaded, offline or cut off from the network; your request did not reach it.',
    guidance:
      '**Wait and retry.** The origin server never received the request, so it is safe to repeat it in {retry_after} s. If that fails too, the operator of the origin server must find out why it does not accept connections.',
    cause:
      'No TCP connection to the origin within timeouts.connect (ai.timeouts.connect for an AI provider), or the operating system gave up sooner. While an origin is down, requests that wait for a connection attempt of another request get this error after timeouts.connect plus timeouts.handshake.',
    remedy:
      'Check that the origin is up and not overloaded, that its address is right, and that no firewall silently drops packets from the gateway.',
  },
  origin_unreachable: {
    code: 523,
    title: 'Origin is unreachable',
    category: 'origin',
    detail:
      'There is no network route from the gateway to the origin server. The network or the address settings behind the gateway are responsible, not your connection.',
    guidance:
      '**Wait and retry.** Routes often recover by themselves: try again after {retry_after} s. If the origin server stays unreachable, the operator of the gateway must correct its address or the network.',
    cause:
      'The operating system reported that the host or the network of the origin cannot be reached, or that this machine has no address or port left to connect from.',
    remedy:
      'Check the address of the origin, the routing table of this machine, whether both sides have IPv6 when the address is IPv6, and whether the local ports are used up.',
  },
  origin_response_timeout: {
    code: 524,
    title: 'A timeout occurred',
    category: 'origin',
    detail:
      'The origin server accepted the connection but did not respond in time. The origin server is responsible: it is overloaded, or this request takes too long.',
    guidance:
      '**Wait and retry.** Retry no sooner than {retry_after} s from now. The origin server may still be working on the first request, so do not repeat anything that must happen only once before you have checked. Requests that always take this long need a faster origin server, or more time from the operator of the gateway.',
    cause:
      'No response head within timeouts.response after the request was sent, the origin stopped reading the request for timeouts.write, or no more of its response arrived for timeouts.idle. For an AI provider these are the limits of the same names in ai.timeouts, and that of the response also applies until the first content of a stream. Once part of the response has been relayed, the client sees a cut connection or, in an event stream, a last event.',
    remedy:
      'Find out what the origin was busy with at that time. Move long work into the background, or raise the timeout that expired, for that route or in ai.timeouts.',
  },
  ssl_handshake_failed: {
    code: 525,
    title: 'SSL handshake failed',
    category: 'ssl',
    detail:
      'The gateway reached the origin server, but the two could not agree on an encrypted (TLS) connection. The TLS settings of the origin server are responsible.',
    guidance:
      '**Do not retry.** Repeating the request gives the same result until the TLS settings of the origin server, or those of the gateway for it, are fixed.',
    cause:
      'The TLS handshake with the origin failed, was cut off, or took longer than timeouts.handshake (ai.timeouts.handshake for an AI provider); or the origin requires a client certificate, and got none or one that it does not trust.',
    remedy:
      'Check that the port speaks TLS, that protocol versions and cipher suites overlap, and that the server has a certificate for the requested name (server_name). If it requires a client certificate, set certificate and key of the pool. Try it with openssl s_client.',
  },
  invalid_ssl_certificate: {
    code: 526,
    title: 'Invalid SSL certificate',
    category: 'ssl',
    detail:
      'The origin server presented a certificate that the gateway cannot trust: it is expired, self-signed, issued for another name or by an unknown authority. To protect your data, the gateway did not send your request.',
    guidance:
      '**Do not retry.** The operator of the origin server must install a valid certificate; until then every request fails.',
    cause: 'The certificate of the origin did not validate: dates, name, chain or issuer.',
    remedy:
      'Renew the certificate or send the whole chain. For a private authority, set its certificate as ca; verify: off turns the check off and should be the last resort.',
  },
  dns_loop: {
    code: 1000,
    status: 403,
    title: 'DNS points to prohibited IP',
    category: 'config',
    detail:
      'The address set for the origin server leads back to this gateway, so your request would loop. The settings of the gateway are responsible.',
    guidance:
      '**Do not retry.** Only the operator of the gateway can end the loop, by setting the address of the real origin server.',
    cause:
      'The CDN-Loop header of the request already contains the name of this gateway, or an origin of the pool leads to an address and port of listen.',
    remedy:
      'Point the pool, or the url of the AI provider, at the origin itself, not at a name that resolves to the gateway. Give each gateway in a chain a name of its own.',
  },
  dns_resolution_failed: {
    code: 1001,
    status: 409,
    title: 'DNS resolution error',
    category: 'dns',
    detail:
      'The hostname you asked for leads to this gateway, but no site is set up here under that name. Either the name is misspelled, or its owner has not finished setting it up.',
    guidance:
      '**Do not retry.** Check the spelling of the hostname. If it is right, its owner must add it to the gateway or correct the DNS record.',
    cause: 'The Host of the request matches no zone and is none of ai.hosts, and there is no default zone.',
    remedy:
      'Add the hostname to the hosts of a zone, or to ai.hosts for AI calls, or mark one zone as the default.',
  },
  prohibited_origin_ip: {
    code: 1002,
    status: 403,
    title: 'DNS points to local or disallowed IP',
    category: 'config',
    detail:
      'The name of the origin server resolves to an address that this site may not use, for example one in a private network. The settings of the site are responsible.',
    guidance:
      '**Do not retry.** The operator of the site must give the origin server a permitted address; nothing that you send can change the result.',
    cause:
      'The pool has addresses: public, and the origin is at, or its name resolved to, an address that is private, loopback, link-local or otherwise reserved.',
    remedy:
      'Correct the DNS record of the origin. If the origin is meant to be in a private network, set addresses: any for its pool.',
  },
  direct_ip_access: {
    code: 1003,
    title: 'Direct IP access not allowed',
    category: 'access_denied',
    stage: 'client',
    detail:
      'Your request names an IP address, or no host at all, where the name of a site belongs. From that, the gateway cannot tell which site you want.',
    guidance:
      '**Do not retry.** Use the hostname of the site in the address instead of a number, then send a new request.',
    cause:
      'The Host of the request is an IP address that neither a zone nor ai.hosts claims, or is missing in a request of HTTP/1.0, and there is no default zone.',
    remedy:
      'Usually nothing: scanners do this. To serve an address on purpose, list it among the hosts of a zone, or in ai.hosts for AI calls, or set a default zone.',
  },
  dns_resolution_error: {
    code: 1004,
    status: 409,
    title: 'DNS resolution error',
    category: 'config',
    retryAfter: 120,
    detail:
      'This site is known to the gateway, which has no origin server for your request: the site is paused, or nothing is set up for this path. The operator of the site is responsible.',
    guidance:
      '**Wait and retry.** Come back after {retry_after} s or later. If nothing changes, the operator of the site must finish setting it up, or resume it.',
    cause: 'The zone is paused, none of its routes matches the path, or the route has no origin yet.',
    remedy:
      'Remove paused from the zone, add a route for the path, or give the route a pool with at least one origin.',
  },
  asn_banned: {
    code: 1005,
    title: 'Access denied',
    category: 'access_denied',
    detail:
      'The operator of this site does not accept requests from the network (autonomous system) that your connection comes from. This may have nothing to do with you personally.',
    guidance:
      '**Do not retry.** If you need access, ask the operator of the site to admit your network, and include the ray ID.',
    cause: 'An access rule with asn contains the AS number that the GeoIP database has for the client.',
    remedy:
      'The access log entry with this ray ID names the rule. Remove the number from it, or put an allow rule before it.',
  },
  ip_banned: {
    code: 1006,
    title: 'Access denied',
    category: 'access_denied',
    detail: 'The operator of this site has blocked your IP address. The site itself is up.',
    guidance:
      '**Do not retry.** If you believe that the block is a mistake, send the ray ID to the operator of the site, who alone can lift it.',
    cause: 'An access rule with ip contains this IPv4 address.',
    remedy:
      'The access log entry with this ray ID names the rule. Remove the address from it if the block was not meant.',
  },
  ip_range_banned: {
    code: 1007,
    title: 'Access denied',
    category: 'access_denied',
    detail:
      'Your IP address lies in a range that the operator of this site has blocked. The block covers many addresses and may not be aimed at you.',
    guidance:
      '**Do not retry.** Ask the operator of the site for an exception for your address, and quote the ray ID when you do.',
    cause: 'An access rule with ip contains a network that includes this IPv4 address.',
    remedy:
      'The access log entry with this ray ID names the rule. Narrow the network, or put a rule that allows the address before it.',
  },
  ip_list_banned: {
    code: 1008,
    title: 'Access denied',
    category: 'access_denied',
    detail: 'Your IP address is on a block list that the operator of this site uses.',
    guidance:
      '**Do not retry.** If the listing is wrong, the operator of the site, or of the list, must remove your address.',
    cause:
      'An access rule with a list contains the IPv4 address of the client, or a network that includes it.',
    remedy: 'Find the address in the list file of the rule, and check how old the list is.',
  },
  country_banned: {
    code: 1009,
    title: 'Access denied',
    category: 'access_denied',
    detail:
      'The operator of this site does not accept requests from the country or region that your IP address is registered in.',
    guidance:
      '**Do not retry.** Requests from the same place are refused each time. Ask the operator of the site whether access from your country can be granted.',
    cause:
      'An access rule with country contains the country that the GeoIP database has for the IPv4 address of the client.',
    remedy: 'Check the countries of the rule and the age of the GeoIP database: addresses change owners.',
  },
  browser_signature_banned: {
    code: 1010,
    title: 'Access denied',
    category: 'access_denied',
    detail:
      'The operator of this site refuses the kind of program that sent this request, judged by how it identifies itself.',
    guidance:
      '**Do not retry.** Use a common, current browser, or ask the operator of the site to allow your program; a retry with the same one will be refused again.',
    cause:
      'An access rule with user_agent has a pattern that matches the whole User-Agent; the empty pattern matches none.',
    remedy:
      'The access log entry with this ray ID names the rule. Make its pattern narrower if it catches legitimate programs.',
  },
  hotlinking_denied: {
    code: 1011,
    title: 'Access denied',
    category: 'access_denied',
    detail:
      'This file was requested from a page of another site, and the operator of this site does not allow its files to be embedded elsewhere.',
    guidance:
      '**Do not retry.** Open the file from the site that it belongs to. To embed it elsewhere, get permission from the operator of that site.',
    cause:
      'An access rule with referer lists the host of the Referer; or a Referer was sent, and a rule with referer_not does not list its host.',
    remedy: 'Add the sites that may embed your files to referer_not, or remove them from referer.',
  },
  malicious_activity_banned: {
    code: 1012,
    title: 'Access denied',
    category: 'access_denied',
    detail:
      'The gateway has seen repeated suspicious requests from your computer or network, and is blocking it for a while to protect this site.',
    guidance:
      '**Do not retry.** The ban ends by itself, and until then every request is refused. Scan your devices for unwanted software, stop automated requests, and contact the operator of the site if the ban persists.',
    cause:
      'The ban of the access rules: too many requests from this address, or for IPv6 from its first 64 bits, were refused by rules or rate limits in a short time. Each worker counts separately, and the ban ends by itself.',
    remedy:
      'Look at the refusals of this address before the ban. Raise the number of refusals, or shorten the ban, if they were harmless; a rule for all zones that allows the address exempts it from the bans of single zones.',
  },
  sni_host_mismatch: {
    code: 1013,
    title: 'HTTP hostname and TLS SNI hostname mismatch',
    category: 'tls',
    detail:
      'Your program opened the encrypted connection for one site and then asked for another site over it. The gateway refuses that, because the two may not belong together.',
    guidance:
      '**Do not retry.** Use the same hostname for the TLS connection (SNI) and in the Host header, and open a new connection for each site.',
    cause:
      'On a TLS listener, the server name of the handshake and the Host of the request belong to different zones.',
    remedy:
      'Usually a client error. If both names are yours and share a certificate, put them into one zone.',
  },
  rate_limited: {
    code: 1015,
    status: 429,
    title: 'You are being rate limited',
    category: 'rate_limit',
    retryAfter: 30,
    stage: 'client',
    detail:
      'You have sent more requests in a short time than the operator of this site allows. The site works; it is slowing you down on purpose.',
    guidance:
      '**Wait and retry.** Send nothing for at least {retry_after} s, then continue at a slower pace; attempts before that are refused too.',
    cause:
      'The client exceeded a limit: one of the rate_limits of the file, the zone or the route, named in RateLimit and in gatehouse_rate_limit_decisions_total, or the rate limit or a spend limit of an AI gateway. The wait is the time until one more request fits.',
    remedy:
      'Nothing, if the limit is right; the cause in the access log names the limit. Otherwise raise the rate of the rule, or choose a key that distinguishes clients better; action: log shows what a rate would do without refusing anyone.',
  },
  origin_dns_error: {
    code: 1016,
    status: 530,
    title: 'Origin DNS error',
    category: 'dns',
    stage: 'origin',
    detail:
      'The gateway could not find the origin server, because its name does not resolve to an address. Its DNS records or the settings of the gateway are responsible.',
    guidance:
      '**Do not retry.** The operator must correct the name of the origin server or its DNS record; after that the same request works.',
    cause:
      'The hostname of the origin has no address, DNS refused the query or failed temporarily twice in a row, or did not respond within timeouts.connect (ai.timeouts.connect for an AI provider). If the name resolved before, its last addresses were used for as long as the pool keeps them (dns: keep).',
    remedy:
      'Check the spelling of the origin in the pool or of the url of the AI provider, its A and AAAA records, and the resolver of this machine. A longer keep under dns bridges longer outages.',
  },
  client_certificate_rejected: {
    code: 1017,
    title: 'Client authentication failed',
    category: 'tls',
    ownerActionRequired: true,
    detail:
      'This site admits only clients with a certificate that it knows. Yours was missing, expired or not issued by an accepted authority.',
    guidance:
      '**Do not retry.** Install the client certificate that you were given and select it when you connect. If you have none, request one from the operator of the site.',
    cause:
      'The zone requires a client certificate, its setting client_certificates, and the one presented was missing or did not verify.',
    remedy:
      'The cause in the access log says what was wrong. Check the issuer, the dates and the purpose of the certificate of the client against ca and crl of the zone.',
  },
  firewall_rule_blocked: {
    code: 1020,
    title: 'Access denied',
    category: 'access_denied',
    detail:
      'A firewall rule of this site matched something in your request and blocked it. The rule was written by the operator of the site.',
    guidance:
      '**Do not retry.** The same request will be blocked again. If you did nothing unusual, tell the operator of the site what you tried to do and give them the ray ID.',
    cause:
      'An access rule with an expression matched, or one with a path that matches a way in which an origin may read the path of the request.',
    remedy:
      'The access log entry with this ray ID names the rule. Try its expression against the logged request.',
  },
  host_lookup_failed: {
    code: 1023,
    status: 409,
    title: 'Could not find host',
    category: 'config',
    detail:
      'The gateway could not read what it has stored about this hostname. The operator of the gateway is responsible.',
    guidance:
      '**Do not retry.** Report the hostname and the ray ID to the operator of the site, who must have the stored settings repaired.',
    cause:
      'This process has never read the API-managed rules of its zones, and has no local copy: the store was unreachable when it started. Deny rules may be missing, so no request is allowed.',
    remedy:
      'Bring the store back: the zone is served as soon as its rules are read. A running process continues with the rules that it knows; one that starts uses the local copy in the data folder, if there is one.',
  },
  plan_limit_reached: {
    code: 1025,
    status: 429,
    title: 'Please check back later',
    category: 'rate_limit',
    detail:
      'This site has used up the traffic that it is allowed for the month. You have done nothing wrong.',
    guidance:
      '**Do not retry.** The site is back at the start of the next month, or as soon as its operator raises the allowance.',
    cause:
      'The zone has served as many requests as its quota allows for a month, which begins on the 1st at 00:00 UTC.',
    remedy:
      'Raise the monthly quota of the zone, which the cause in the access log names, or find out what used it up.',
  },
  legal_block: {
    code: 1026,
    title: 'Unavailable for legal reasons',
    category: 'legal',
    detail: 'What you asked for was taken down for legal reasons and is not served through this gateway.',
    guidance:
      '**Do not retry.** The block is deliberate. Questions about it go to the operator of the site, who knows the legal demand behind it.',
    cause: 'An access rule with the action legal matched.',
    remedy: 'Compare the rule that the access log names with the legal demand that it came from.',
  },
  daily_limit_reached: {
    code: 1027,
    status: 429,
    title: 'This website has been temporarily rate limited',
    category: 'rate_limit',
    detail:
      'This site has used up its allowance of requests for today. All visitors are affected, not just you.',
    guidance:
      '**Do not retry.** Come back tomorrow, when the count starts again, or ask the operator of the site to raise the limit.',
    cause: 'The zone has served as many requests as its quota allows for a day, which begins at 00:00 UTC.',
    remedy:
      'Raise the daily quota of the zone, which the cause in the access log names, or find the client that uses it up and set a rate limit for it.',
  },
  tls_version_not_supported: {
    code: 1028,
    title: 'TLS minimum version requirements not met',
    category: 'tls',
    ownerActionRequired: true,
    detail: 'Your program uses an old version of TLS encryption that this site no longer accepts as safe.',
    guidance:
      '**Do not retry.** Update your browser or program to one that speaks TLS 1.3, then connect again.',
    cause: 'The TLS version of the connection is below the minimum of the zone, its setting min_version.',
    remedy: 'Lower the minimum only if old clients must be served; a lower minimum weakens their protection.',
  },
  tls_cipher_not_supported: {
    code: 1029,
    title: 'TLS cipher suite requirements not met',
    category: 'tls',
    ownerActionRequired: true,
    detail:
      'The cipher that your program chose for the encrypted connection is not one of those that this site accepts.',
    guidance:
      '**Do not retry.** Update your program or its TLS library, or enable modern cipher suites in it.',
    cause: 'The cipher suite of the connection is not on the list of the zone, its setting ciphers.',
    remedy: 'Compare the list of the zone with the suites of the clients that must be served.',
  },
  tunnel_error: {
    code: 1033,
    status: 530,
    title: 'Tunnel error',
    category: 'config',
    retryAfter: 120,
    stage: 'origin',
    detail:
      'None of the origin servers of this site is available: each has failed its checks, or too many requests in a row, so the gateway sends requests to none of them. The site is responsible.',
    guidance:
      '**Wait and retry.** The gateway notices by itself when an origin server is back: try again after {retry_after} s. If it takes longer, the operator of the site must bring one back.',
    cause:
      'Every member of the pool is down by its active checks, or ejected after as many failures in a row as the ejection of the pool allows. The last remaining member is ejected only for failed connections, not for failed requests. The wait is the time to the next check or trial.',
    remedy:
      'List the origins of the zone with the management API: it shows why each gets no requests. The check may be at fault rather than the origin: look at what it requests.',
  },
  rewrite_invalid_path: {
    code: 1035,
    title: 'Invalid request rewrite (invalid URI path)',
    category: 'rewrite',
    detail:
      'A rule of this site rewrote the address of your request into one that is not valid. The rule is responsible.',
    guidance:
      '**Do not retry.** The operator of the site must correct the rewrite rule so that it gives a valid path.',
    cause:
      'The result of the path rewrite (rewrite: path) is empty, does not begin with a slash, contains a space, a control character, a fragment or a character beyond one byte, is under /cdn-cgi/, or has a segment of two dots, encoded or not.',
    remedy:
      'Evaluate the expression for the path in the access log. Each of its branches must begin with a slash; percent-encode literal characters. Clients that send two dots as a segment are refused on purpose.',
  },
  rewrite_too_long: {
    code: 1036,
    title: 'Invalid request rewrite (maximum length exceeded)',
    category: 'rewrite',
    detail:
      'A rule of this site rewrote the address of your request into one that is too long to be sent on.',
    guidance:
      '**Do not retry.** The operator of the site must shorten what the rewrite rule produces; a shorter address in your request may get through until then.',
    cause:
      'The result of the path rewrite (rewrite: path) is longer than limits.url, with the query of the request where the result has none.',
    remedy: 'Look for an expression that repeats or appends without bound, above all in the query.',
  },
  rewrite_evaluation_failed: {
    code: 1037,
    title: 'Invalid rewrite rule (failed to evaluate expression)',
    category: 'rewrite',
    detail: 'A rewrite rule of this site failed for your request. The expression in the rule is responsible.',
    guidance:
      '**Do not retry.** The operator of the site must fix the expression of the rule, and can find the request by its ray ID.',
    cause:
      'An expression of rewrite failed at run time: mostly it reads a header that the request does not have. The access log names the setting.',
    remedy: 'Test first that the header exists, with the operator in, or set a default with orValue.',
  },
  http_headers_exceed_limit: {
    code: 1038,
    status: 503,
    title: 'HTTP headers exceed limit',
    category: 'config',
    retryAfter: 60,
    stage: 'client',
    detail:
      'The headers of your request are larger than the gateway accepts. Most often too many or too large cookies are the reason.',
    guidance:
      '**Wait and retry.** Delete the cookies of this site or send fewer headers, and repeat the request after {retry_after} s. Unchanged, it will probably be refused again.',
    cause:
      'The request line and the header lines together are over limits.header_section, as the client sent them or as rewrite left them.',
    remedy:
      'Find out which cookie or header grows, and who sets it. Raise the limit only if such requests are legitimate.',
  },
  legal_country_block: {
    code: 1039,
    title: 'Unavailable for legal reasons',
    category: 'legal',
    detail:
      'For legal reasons, what you asked for is not available in the country that your connection comes from.',
    guidance:
      '**Do not retry.** The restriction comes from the law where you are, not from a fault of the site. The operator of the site can tell you the reason for the restriction.',
    cause: 'An access rule with the action legal contains the country of the client.',
    remedy: 'Check the countries of the rule and the age of the GeoIP database.',
  },
  rewrite_invalid_header_value: {
    code: 1041,
    title: 'Invalid request rewrite (invalid header value)',
    category: 'rewrite',
    detail:
      'A rule of this site produced a header value that HTTP does not permit: it contains invalid characters or is too long.',
    guidance:
      '**Do not retry.** The operator of the site must change the rule so that it produces a valid header value for requests like yours.',
    cause:
      'An expression under request_headers or response_headers of rewrite returned a line break, another control character, a character beyond one byte, or more than 8 KiB. The access log names the header.',
    remedy:
      'Look for line breaks in the expression, and for what it copies from the request. Encode other characters than those of Latin-1.',
  },
  tls_not_fips_compliant: {
    code: 1044,
    title: 'TLS connection is not FIPS compliant',
    category: 'tls',
    ownerActionRequired: true,
    detail:
      'This site accepts only encryption that follows the FIPS standard, and your connection uses parameters outside of it.',
    guidance:
      '**Do not retry.** Switch your program or operating system to its FIPS mode, or use one that has it.',
    cause:
      'The zone takes only what NIST SP 800-52r2 approves, its setting fips_algorithms or tls.fips of all zones, and the client offered no version, cipher and curve of it.',
    remedy:
      'Let clients offer TLS 1.2 or 1.3 with AES-GCM and the curves P-256 or P-384; turn the policy off if the law does not ask for it.',
  },
  http_connect_not_supported: {
    code: 1045,
    status: 405,
    title: 'HTTP CONNECT is not supported',
    category: 'unsupported',
    detail:
      'Your program used the CONNECT method, which asks for a tunnel to another server. This gateway serves sites and opens no tunnels.',
    guidance:
      '**Do not retry.** Remove this gateway from the proxy settings of your program, and connect to the site directly.',
    cause: 'A request with the method CONNECT.',
    remedy: 'Nothing: the client treats the gateway as a forward proxy, which it is not.',
  },
  host_invalid: {
    code: 1048,
    status: 400,
    title: 'Could not find host',
    category: 'config',
    ownerActionRequired: true,
    stage: 'client',
    detail:
      'The hostname in your request is not a valid hostname: its characters or its form are not allowed in DNS.',
    guidance:
      '**Do not retry.** Correct the hostname in the address or in the Host header. If you followed a link, the site that holds the link must correct it.',
    cause:
      'The Host header, or the authority of an absolute request target, is neither a valid hostname nor an IP address, or its port is not a number.',
    remedy: 'Look for links or clients that write the name with spaces, percent signs or raw Unicode.',
  },
  zone_settings_failed: {
    code: 1049,
    status: 500,
    title: 'Could not find host',
    category: 'config',
    detail: 'The gateway knows this site, but the settings of the site are faulty and could not be loaded.',
    guidance:
      '**Do not retry.** The operator of the site must correct its settings; the log of the gateway names the error.',
    cause:
      'An API-managed access rule of this zone refers to something that the configuration of this machine does not have, such as a list. The other zones are served.',
    remedy: 'Look in the log for the reason; change the rule with the API, or the configuration.',
  },
  default_deny_policy: {
    code: 1050,
    title: 'Blocked by default-deny policy',
    category: 'access_denied',
    detail:
      'This site admits only requests that one of its rules expressly allows, and no rule allows yours.',
    guidance:
      '**Do not retry.** If you should have access, the operator of the site must add a rule that admits you.',
    cause: 'The default of the access rules is deny, and no rule allowed the request.',
    remedy: 'Add an access rule that allows this kind of request.',
  },
  access_protection_error: {
    code: 1052,
    status: 500,
    title: 'Error while protecting the resource',
    category: 'config',
    detail:
      'The gateway could not decide whether you may have access, because one of the access rules of this site failed. To be safe, it did not let the request through.',
    guidance:
      '**Do not retry.** The operator of the site must fix the access rule; send them the ray ID, which identifies it.',
    cause:
      'An access rule failed to evaluate: its expression failed, for example because a header was not sent, or its GeoIP database is damaged.',
    remedy:
      'The access log entry with this ray ID names the rule. Guard the expression with a test that the header exists, or update the database.',
  },
  ipv6_banned: {
    code: 1106,
    title: 'Access denied',
    category: 'access_denied',
    detail:
      'The operator of this site has blocked your IPv6 address. The site is up, but closed to this address.',
    guidance:
      '**Do not retry.** Only the operator of the site can remove the block. Tell them the ray ID rather than the address, which may change.',
    cause: 'An access rule with ip contains this IPv6 address.',
    remedy:
      'The access log entry with this ray ID names the rule. Clients change their IPv6 addresses often, so the block may hit the next user of it.',
  },
  ipv6_range_banned: {
    code: 1107,
    title: 'Access denied',
    category: 'access_denied',
    detail:
      'Your IPv6 address lies in a range that the operator of this site has blocked, perhaps because of other users of the same provider.',
    guidance:
      '**Do not retry.** Ask the operator of the site to exempt your part of the range, with the ray ID as evidence.',
    cause: 'An access rule with ip contains a network that includes this IPv6 address.',
    remedy:
      'The access log entry with this ray ID names the rule. Check whether its prefix is wider than one customer of the provider.',
  },
  ipv6_list_banned: {
    code: 1108,
    title: 'Access denied',
    category: 'access_denied',
    detail: 'Your IPv6 address is on a block list that this site applies.',
    guidance:
      '**Do not retry.** The operator of the site must take the address off the list, or stop using the list, if it is there by mistake.',
    cause:
      'An access rule with a list contains the IPv6 address of the client, or a network that includes it.',
    remedy: 'Find the prefix in the list file of the rule, and check how old the list is.',
  },
  ipv6_country_banned: {
    code: 1109,
    title: 'Access denied',
    category: 'access_denied',
    detail:
      'This site is closed to the country or region in which your IPv6 address is registered, by a decision of its operator.',
    guidance:
      '**Do not retry.** Contact the operator of the site if you think that your address is attributed to the wrong country.',
    cause:
      'An access rule with country contains the country that the GeoIP database has for the IPv6 address of the client.',
    remedy: 'Check the countries of the rule; IPv6 addresses are located less reliably than IPv4 addresses.',
  },
  cache_connection_limit: {
    code: 1200,
    status: 503,
    title: 'Cache connection limit',
    category: 'rate_limit',
    retryAfter: 60,
    stage: 'origin',
    detail:
      'Too many requests are already queued for the origin server of this site, so the gateway did not queue yours.',
    guidance:
      '**Wait and retry.** The queue usually clears soon: try again after {retry_after} s, and space out further requests. If it keeps filling up, the operator of the site must add capacity.',
    cause:
      'The origin has as many connections as its pool or provider allows (connections), all are busy, and the queue is full.',
    remedy:
      'Find out why the origin responds slowly. If it can handle more at once, raise connections; a longer queue only makes clients wait longer.',
  },
  too_many_redirects: {
    code: 1205,
    title: 'Too many redirects',
    category: 'snippet',
    retryAfter: 5,
    ownerActionRequired: false,
    stage: 'origin',
    detail:
      'The gateway followed the redirects of the origin server, and they did not end. The redirects of the site form a loop or too long a chain.',
    guidance:
      '**Wait and retry.** Try again after {retry_after} s; delete the cookies of the site first, since they often cause such loops. If it happens each time, the operator of the site must check the redirects.',
    cause:
      'A route with redirects follows those that lead back to itself. It met more of them than allowed, or one to a URL that it had already requested.',
    remedy:
      'Follow the redirects by hand. A classic is one rule that adds a trailing slash, and another that removes it.',
  },
} as const satisfies Record<string, Entry>

const protocolEntries = {
  bad_request: {
    code: 400,
    title: 'Bad request',
    category: 'unsupported',
    detail:
      'Your program sent something that is not a correct HTTP request, or one that could be understood in more than one way. The gateway refused it and closed the connection.',
    guidance:
      '**Do not retry.** The program that sent the request must be corrected. In a browser, delete the cookies of the site or try another network: something on the network path may alter what you send.',
    cause:
      'The request breaks the grammar or the framing rules of HTTP/1.1: for example two Content-Length values, both framing headers, a malformed chunk, a bare line feed, a repeated Host, or none in HTTP/1.1. Another cause is a path that origins could read in several ways, with doubled slashes, semicolons or encoded slashes, where a route, a rule or a rewrite depends on which is meant. An AI route raises it too for a call that it does not understand, such as a body that is not JSON; the response then names each fault instead of the text below. A request that would bring a token or client secret of this gateway to an origin is refused as well; the response names the place.',
    remedy:
      'Usually nothing: scanners and attacks do this. If a program of yours is refused, compare its bytes with RFC 9112, and its AI calls with the error message. A program that sends a token to an origin has the wrong base URL.',
  },
  unauthorized: {
    code: 401,
    status: 401,
    title: 'Unauthorized',
    category: 'access_denied',
    stage: 'client',
    detail:
      'This AI gateway only serves callers with a valid API token, and your request came without one that it accepts.',
    guidance:
      '**Do not retry.** Send a token with the permission AI Gateway Run: in Authorization on REST routes, in svc-aig-authorization on provider-native ones. The operator of the gateway can create one for you.',
    cause:
      'The AI gateway requires authentication, and the token is missing, mistyped, unknown, disabled, expired, not valid yet, or not for this client address. The counter gatehouse_ai_decisions_total shows which. Or no gate of the route (protect) lets the request in; the cause in the access log then says why.',
    remedy: 'Look the token up with the tokens API: its status, its dates and its address condition.',
  },
  forbidden: {
    code: 403,
    title: 'Forbidden',
    category: 'access_denied',
    stage: 'client',
    detail: 'Your API token is valid, but it does not allow what you asked for.',
    guidance:
      '**Do not retry.** Use a token whose policies allow AI Gateway Run on this account, or have the policies of this one changed.',
    cause:
      'The token lacks the permission AI Gateway Run, or belongs to a different account than the one in the path. Or the condition of a gate of the route (protect) is not true for it.',
    remedy: 'Compare the policies of the token with the account in the path of the request.',
  },
  not_found: {
    code: 404,
    title: 'Not found',
    category: 'unsupported',
    detail:
      'Nothing was found at the address of your request: there is no error to show there, and no AI route, gateway or provider.',
    guidance:
      '**Do not retry.** Compare the address with the documentation. The address of a preview ends in an error code, for example 522; that of an AI call contains the ID of an account and, depending on its kind, the names of a gateway and a provider.',
    cause:
      'A preview was asked for with an unknown code or by a client that errors.previews keeps it from, or an AI call for a route, a gateway or a provider that does not exist.',
    remedy:
      'For AI calls, compare the path with the gateways of the account and with ai.providers. For previews, the index of this documentation lists every error. Those that HTTP itself defines have no preview: 400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 417, 421, 422, 426, 501, 503 and 505.',
  },
  method_not_allowed: {
    code: 405,
    title: 'Method not allowed',
    category: 'unsupported',
    detail:
      'The gateway does not allow the method of this request: AI calls are made with POST, and TRACE could reveal what only the site should see.',
    guidance: '**Do not retry.** Use one of the methods that the Allow header of this response lists.',
    cause: 'A request with the method TRACE, or a request to an AI route with a method other than POST.',
    remedy: 'Nothing: TRACE is refused by design, and a program that makes AI calls must use POST.',
  },
  request_timeout: {
    code: 408,
    title: 'Request timeout',
    category: 'unsupported',
    detail:
      'Your program opened a connection but did not send the whole request in the time allowed. A slow or broken network on your side is the usual reason.',
    guidance:
      '**Do not retry.** This connection is closed: check your network, then start the request again by hand.',
    cause:
      'The header section was not complete within client.header_timeout; or the request body arrived more slowly than client.body_rate, took longer than client.body_timeout, or stalled for timeouts.idle (ai.timeouts.idle on AI routes). gatehouse_slow_clients_total shows which.',
    remedy:
      'Single cases are normal. Many at once from few addresses are a slow-request attack, which these limits are meant to stop.',
  },
  conflict: {
    code: 409,
    title: 'Conflict',
    category: 'unsupported',
    retryAfter: 5,
    detail: 'A call with the Idempotency-Key of yours is still under way.',
    guidance:
      '**Wait and retry.** Send the call again after at least {retry_after} s, with the same key: it then gets the response.',
    cause: 'An AI call with the same Idempotency-Key is under way in another process, and takes long.',
    remedy: 'Nothing, unless there are many: then look at how long providers take.',
  },
  content_too_large: {
    code: 413,
    title: 'Content too large',
    category: 'unsupported',
    detail: 'What you tried to send is larger than what is accepted at this address.',
    guidance:
      '**Do not retry.** Send a smaller file or split it into parts. If it must be sent whole, ask the operator for a higher limit.',
    cause:
      'The request body is over the limit of the route: its setting body, or else limits.body; on AI routes ai.body, or ai.upload for a provider-native call.',
    remedy: 'Raise that limit if such bodies are legitimate.',
  },
  uri_too_long: {
    code: 414,
    title: 'URI too long',
    category: 'unsupported',
    detail: 'The address of your request is longer than the gateway accepts.',
    guidance:
      '**Do not retry.** Shorten the address: send long data in the body of a POST request rather than in the query.',
    cause:
      'The request target is over limits.url, or the request line by itself is over limits.header_section.',
    remedy: 'Look for forms that use GET, and for redirects that append to the query each time.',
  },
  unsupported_media_type: {
    code: 415,
    title: 'Unsupported media type',
    category: 'unsupported',
    detail: 'The body of your request has a media type that this address does not accept.',
    guidance:
      '**Do not retry.** Send the body as JSON, with Content-Type: application/json and no content coding.',
    cause: 'An AI REST route received a Content-Type other than JSON, or a body with a Content-Encoding.',
    remedy: 'Nothing: correct the client.',
  },
  expectation_failed: {
    code: 417,
    title: 'Expectation failed',
    category: 'unsupported',
    detail:
      'Your program made the request depend on an expectation (the Expect header) that the gateway does not support.',
    guidance:
      '**Do not retry.** Leave the Expect header out, or use the value 100-continue, the only one that HTTP defines.',
    cause: 'An Expect header with a value other than a single 100-continue.',
    remedy: 'Nothing: correct the client.',
  },
  misdirected_request: {
    code: 421,
    status: 421,
    title: 'Misdirected request',
    category: 'tls',
    detail:
      'Your program used its encrypted connection for another site than the one that it was opened for. The gateway serves that site, but only over a connection of its own.',
    guidance: '**Do not retry.** Open another connection for this hostname, as browsers do by themselves.',
    cause:
      'Over HTTP/2 on a TLS listener, the :authority of a request belongs to another zone than the server name of the handshake, and the zones have different certificates or ask for different client certificates.',
    remedy:
      'Nothing: clients retry on a connection of its own. Zones that share a certificate can share connections.',
  },
  unprocessable_content: {
    code: 422,
    title: 'Unprocessable content',
    category: 'unsupported',
    detail:
      'The Idempotency-Key of the call was used before: for another call, or for one whose response cannot be given.',
    guidance:
      '**Do not retry.** If the other call was the same as this one, it may have taken effect: find out, and make it again with a new key if it has not. Never use a key for two different calls.',
    cause:
      'An AI call whose Idempotency-Key its caller has used for another body or endpoint, or for a call that broke off, whose process has ended, or whose response is not stored any more.',
    remedy:
      'Look at the other call in the log of its gateway. If processes end while they serve calls, find out why.',
  },
  upgrade_required: {
    code: 426,
    title: 'Upgrade required',
    category: 'unsupported',
    detail: 'Your program asked for a WebSocket, and this AI route has none.',
    guidance:
      '**Do not retry.** Send the call with POST. Programs that try a WebSocket first do so by themselves.',
    cause:
      'A WebSocket handshake for a REST or unified AI route, or for an API that its provider does not have.',
    remedy: 'Nothing: programs go on with POST. Turn WebSockets off in their settings to save the try.',
  },
  not_implemented: {
    code: 501,
    title: 'Not implemented',
    category: 'unsupported',
    detail:
      'Your request uses a feature of HTTP that this gateway does not have: a transfer coding besides chunked.',
    guidance: '**Do not retry.** Send the request without the unusual transfer coding.',
    cause: 'A Transfer-Encoding with codings other than chunked.',
    remedy: 'Find out which client sends it, and whether it has a setting for plain HTTP/1.1.',
  },
  service_unavailable: {
    code: 503,
    title: 'Service unavailable',
    category: 'cloudflare',
    retryAfter: 5,
    detail:
      'The gateway cannot accept your call right now: the store of API tokens is unreachable, or too many large calls are in progress. Your request was not forwarded.',
    guidance:
      '**Wait and retry.** Try again no sooner than {retry_after} s from now. Nothing was sent to a provider, so a retry costs nothing extra.',
    cause:
      'The store (Redis, or the SQLite file) did not respond within store.command_timeout, and this token or gateway was not used within store.grace. Or, with the cause GH_BODY_MEMORY in the access log, the bodies of REST calls in this process take all the memory that they may: an eighth of what the container or the machine has, divided by the workers, and at most 512 MiB. Or no key could be made from the identity of a provider at its cloud; the cause then says why. Or a spend limit governs the call, and what is spent of it cannot be counted without the store; the cause names the limit. Or, with the cause GH_KEY_SET_MISSING, the key set of a gate (protect) could not be fetched, or with GH_AUTHORIZER_TIMEOUT, GH_AUTHORIZER_UNREACHABLE or GH_AUTHORIZER_BUSY, its authorizer did not respond. Or, with the cause GH_GUARD_WEBHOOK, the webhook of the guard of a gateway gave no verdict; the log says why.',
    remedy:
      'Look at /readyz of the admin listener, then check that the store is up and that this machine can reach it. If so, look at gatehouse_ai_body_bytes, at ai.body, and for clients that send large calls slowly; give the container more memory, or run fewer workers.',
  },
  http_version_not_supported: {
    code: 505,
    title: 'HTTP version not supported',
    category: 'unsupported',
    detail: 'Your program speaks a version of HTTP that this gateway does not understand.',
    guidance: '**Do not retry.** Set your program to HTTP/1.1 and connect again.',
    cause: 'The request line names a version of HTTP other than 1.x.',
    remedy: 'Check whether a load balancer in front speaks HTTP/2 without TLS to the gateway.',
  },
} as const satisfies Record<string, Entry>

export type ErrorName = keyof typeof catalogue | keyof typeof previewOnly | keyof typeof protocolEntries

/** The errors of the interface, in the order of their codes; each can be previewed by its code. */
export const previews: Readonly<Record<string, ErrorRow>> = rowsOf({ ...catalogue, ...previewOnly })

/** Errors that HTTP itself defines and for which the interface has no code; the code is the HTTP status. */
export const protocolErrors = rowsOf(protocolEntries)

/** Every row by its name. */
export const errorRows = { ...previews, ...protocolErrors } as Readonly<Record<ErrorName, ErrorRow>>

function rowsOf<Name extends string>(
  entries: Readonly<Record<Name, Entry>>,
): Readonly<Record<Name, ErrorRow>> {
  const rows = Object.entries<Entry>(entries).map(([name, entry]) => [name, rowOf(entry)] as const)
  return Object.fromEntries(rows.sort(([, a], [, b]) => a.code - b.code)) as Record<Name, ErrorRow>
}

function rowOf(entry: Entry): ErrorRow {
  const row = {
    status: entry.code,
    stage: 'gateway' as const,
    retryAfter: null,
    ...usual[entry.category],
    ...entry,
  }
  return { ownerActionRequired: row.stage !== 'client', ...row }
}

/** Whether this version raises an error; others can only be previewed. */
export function isRaised(name: string): boolean {
  return !Object.hasOwn(previewOnly, name)
}
