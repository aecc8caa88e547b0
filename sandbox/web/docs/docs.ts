import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Context } from 'hono';
import { html, raw } from 'hono/html';
import { type Route, docsPath } from '../../api/http/route.ts';
import type { Env, Service } from '../../core/service.ts';
import { apiTokenOf } from '../../core/store/credentials/sessions.ts';
import { iconLinks } from '../pages/page.ts';
import { sessionOf } from '../sign-in/session.ts';
import { signInUrl } from '../sign-in/sign-in.ts';

const here = join(import.meta.dirname, 'docs.ts');
const scriptPath = `${docsPath}/scalar.js`;

/**
 * Keeps the page from calling any other address. Scalar injects styles while it renders, so inline
 * styles are allowed; inline scripts are not.
 */
const policy = [
	"default-src 'none'",
	"script-src 'self'",
	"connect-src 'self'",
	"style-src 'self' 'unsafe-inline'",
	"img-src 'self' data: blob:",
	"font-src 'self' data:",
	"form-action 'none'",
	"frame-ancestors 'none'",
	"base-uri 'none'",
].join('; ');

/** Samples are for cURL and for fetch in Node.js; Scalar offers about forty clients. */
const hiddenClients = [
	...'c clojure csharp dart fsharp go http java js julia kotlin objc ocaml php powershell python r ruby rust swift'.split(' '),
	...['shell/httpie', 'shell/wget', 'node/axios', 'node/ofetch', 'node/undici'],
];

/** The bar that leads back to the console; Scalar leaves room of the same height above its page. */
const barStyle = `
:root { --scalar-custom-header-height: 2.5rem; }
.bar {
	position: sticky; top: 0; z-index: 10; box-sizing: border-box; height: 2.5rem; padding: 0 1.25rem; display: flex;
	align-items: center; justify-content: space-between; font: .875rem system-ui, sans-serif; color: #fff; background: #1f2937;
}
.bar a { color: #fff; }
`;

/** By default Scalar loads fonts, collects telemetry and offers its own services. */
const configuration = {
	url: '/openapi.json',
	hiddenClients,
	defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
	metaData: { title: 'API documentation · CRM Platform' },
	defaultOpenFirstTag: false,
	documentDownloadType: 'direct',
	hideClientButton: true,
	showDeveloperTools: 'never',
	withDefaultFonts: false,
	telemetry: false,
	proxyUrl: '',
	agent: { disabled: true },
	mcp: { disabled: true },
};

/** The interactive documentation: Scalar, served from its npm package, with the service's OpenAPI document. */
export function docsRoutes(service: Service): Route[] {
	let script: string | undefined;
	return [
		{ method: 'GET', path: docsPath, handler: (c) => documentationPage(c, service) },
		{
			method: 'GET',
			path: scriptPath,
			handler(c) {
				// The script has some megabytes, so it is read on first use and not at every start.
				script ??= readFileSync(join(dirname(createRequire(here).resolve('@scalar/api-reference')), 'browser', 'standalone.js'), 'utf8');
				return c.body(script, 200, { 'Content-Type': 'text/javascript; charset=utf-8', 'Cache-Control': 'max-age=3600' });
			},
		},
	];
}

function documentationPage(c: Context<Env>, service: Service): Response | Promise<Response> {
	const session = sessionOf(service, c);
	const token = session ? apiTokenOf(session.token) : '';
	const authentication = { preferredSecurityScheme: 'apiKey', securitySchemes: { apiKey: { token } } };
	// Scalar would resolve the document's relative server to //v1/contacts.
	const servers = [{ url: new URL(c.req.url).origin }];
	c.header('Content-Security-Policy', policy);
	c.header('X-Content-Type-Options', 'nosniff');
	// The page contains a token.
	c.header('Cache-Control', 'no-store');
	return c.html(
		html`<!doctype html>
			<html lang="en">
				<head>
					<meta charset="utf-8" />
					<meta name="viewport" content="width=device-width, initial-scale=1" />
					<title>${configuration.metaData.title}</title>
					${iconLinks}
					<style>${raw(barStyle)}</style>
				</head>
				<body>
					<nav class="bar" aria-label="CRM Platform">
						<a href="/">← CRM Platform</a>
						${session
							? html`<span>Requests are sent as ${session.member.name}.</span>`
							: html`<a href="${signInUrl(docsPath)}">Sign in to send requests</a>`}
					</nav>
					<script id="api-reference"
						data-configuration="${JSON.stringify({ ...configuration, authentication, servers })}"></script>
					<script src="${scriptPath}"></script>
				</body>
			</html>`,
	);
}
