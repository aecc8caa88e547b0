import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { html } from 'hono/html';
import type { Route } from '../http/route.ts';
import { docsPath } from '../http/docs-path.ts';
import { refusalPage } from './page.ts';

const scriptPath = `${docsPath}/scalar.js`;

/**
 * The browser itself keeps the page from calling any other address. Scalar styles what it shows as
 * it goes, so it needs styles in the page; scripts come from the service alone.
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

/** Scalar offers some forty ways to write a request down; these are the others. */
const hiddenClients = {
	...Object.fromEntries(
		[
			...['c', 'clojure', 'csharp', 'dart', 'fsharp', 'http', 'java', 'julia', 'kotlin', 'node'],
			...['objc', 'ocaml', 'powershell', 'r', 'rust', 'swift'],
		].map((language) => [language, true]),
	),
	js: ['axios', 'jquery', 'ofetch', 'xhr'],
	php: ['guzzle', 'laravel'],
	python: ['aiohttp', 'httpx_async', 'httpx_sync', 'python3'],
	shell: ['httpie', 'wget'],
};

/** By default Scalar loads fonts, counts its visitors and offers services of its own. */
const configuration = {
	url: '/openapi.json',
	hiddenClients,
	defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
	authentication: { preferredSecurityScheme: 'apiKey' },
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

/**
 * The interactive documentation: Scalar, out of its npm package, with the service's own description.
 *
 * @param scriptFile where Scalar's script is, if it is anywhere
 */
export function docsRoutes(scriptFile: string | undefined): Route[] {
	let script: string | undefined;
	return [
		{
			method: 'GET',
			path: docsPath,
			handler(c) {
				if (scriptFile === undefined) {
					const detail =
						'It is shown by the npm package @scalar/api-reference, which is not installed here. ' +
						'Run npm install and start the sandbox again. /openapi.json describes the API as well.';
					return refusalPage(c, 404, 'The documentation cannot be shown', detail);
				}
				// Relative to the description, Scalar would call //v1/contacts.
				const servers = [{ url: new URL(c.req.url).origin }];
				c.header('Content-Security-Policy', policy);
				c.header('X-Content-Type-Options', 'nosniff');
				return c.html(
					html`<!doctype html>
						<html lang="en">
							<head>
								<meta charset="utf-8" />
								<meta name="viewport" content="width=device-width, initial-scale=1" />
								<title>${configuration.metaData.title}</title>
								<link rel="icon" href="data:," />
							</head>
							<body>
								<script id="api-reference"
									data-configuration="${JSON.stringify({ ...configuration, servers })}"></script>
								<script src="${scriptPath}"></script>
							</body>
						</html>`,
				);
			},
		},
		...(scriptFile === undefined
			? []
			: [
					{
						method: 'GET',
						path: scriptPath,
						handler(c) {
							// Some megabytes: read when somebody looks, not at every start.
							script ??= readFileSync(scriptFile, 'utf8');
							const type = 'text/javascript; charset=utf-8';
							return c.body(script, 200, { 'Content-Type': type, 'Cache-Control': 'max-age=3600' });
						},
					} satisfies Route,
				]),
	];
}

/** Scalar's script, looked for from the program that runs: jest loads this file as CommonJS. */
export function findScript(): string | undefined {
	try {
		const main = createRequire(process.argv[1]!).resolve('@scalar/api-reference');
		const file = join(dirname(main), 'browser', 'standalone.js');
		return existsSync(file) ? file : undefined;
	} catch {
		return undefined;
	}
}
