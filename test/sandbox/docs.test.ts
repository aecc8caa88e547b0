import { Hono } from 'hono';
import { docsRoutes, findScript } from '../../sandbox/pages/docs.ts';
import { mount } from '../../sandbox/http/route.ts';
import type { Env } from '../../sandbox/http/service.ts';

function docs(scriptFile: string | undefined): Hono<Env> {
	const app = new Hono<Env>();
	mount(app, docsRoutes(scriptFile));
	return app;
}

test('the documentation is one page and one script, both from here', async () => {
	const page = await docs(findScript()).request('/docs');
	const sources = [...(await page.text()).matchAll(/src="([^"]+)"/g)].map(([, source]) => source!);
	expect(sources).toEqual(['/docs/scalar.js']);
	const script = await docs(findScript()).request(sources[0]!);
	expect(script.headers.get('Content-Type')).toContain('text/javascript');
	expect((await script.text()).length).toBeGreaterThan(1_000_000);
});

test('a browser is told to ask no other address', async () => {
	const { headers } = await docs(findScript()).request('/docs');
	const policy = headers.get('Content-Security-Policy')!;
	expect(policy).toContain("default-src 'none'");
	expect(policy).not.toMatch(/https?:|\*/);
});

test('without the package the page says what to do', async () => {
	const page = await docs(undefined).request('/docs');
	expect(page.status).toBe(404);
	const text = await page.text();
	for (const words of ['@scalar/api-reference', 'npm install', '/openapi.json']) {
		expect(text).toContain(words);
	}
});
