import { cpSync, globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { withDescription } from './assembled.ts';
import { contentFaults, importFaults, type Loaded } from './package-contents.ts';
import { manifestFaults, type Manifest } from './manifest.ts';
import { packClone, runScript, type Packed } from './packed.ts';

interface LoadedNode extends Loaded {
	description: Loaded & { name: string; webhooks?: Array<{ restartWebhook?: boolean }> };
}

/**
 * Without the webhooks that resume an execution: n8n registers them itself. The rule `webhook-lifecycle-complete` is
 * about triggers, which register with a service, but applies to all webhooks.
 */
function withoutResuming({ webhooks, ...description }: LoadedNode['description']): LoadedNode['description'] {
	const registered = webhooks?.filter(({ restartWebhook }) => !restartWebhook) ?? [];
	return { ...description, ...(registered.length > 0 && { webhooks: registered }) };
}

const clean = { passed: true, complaints: [] };

describe("n8n's verification gate", () => {
	let packed: Packed;
	let manifest: Manifest;
	let loaded: { nodes: LoadedNode[]; credentials: Loaded[] };

	beforeAll(() => {
		packed = packClone();
		manifest = JSON.parse(readFileSync(join(packed.unpacked, 'package.json'), 'utf8'));
		loaded = JSON.parse(runScript('load.ts', [packed.unpacked], packed.unpacked));
	});
	afterAll(() => packed?.remove());

	/** The sources, with the descriptions of the nodes as code assembles them. */
	function assembledSources(): string {
		const folder = mkdtempSync(join(dirname(packed.source), 'assembled-'));
		for (const part of ['package.json', 'nodes', 'credentials', 'icons']) {
			cpSync(join(packed.source, part), join(folder, part), { recursive: true });
		}
		for (const { file, description } of loaded.nodes) {
			const path = join(folder, file.replace(/^dist/, '').replace(/js$/, 'ts'));
			writeFileSync(path, withDescription(readFileSync(path, 'utf8'), withoutResuming(description)));
		}
		return folder;
	}

	test('finds no error and no warning in the sources, in the tarball, and in the assembled descriptions', () => {
		// In one process, since loading the rules takes as long as applying them.
		const args = ['source', packed.source, 'tarball', packed.unpacked, 'nodes', assembledSources()];
		expect(JSON.parse(runScript('scan.ts', args, packed.source))).toEqual([clean, clean, clean]);
	});

	test('finds no fault in the manifest', () => {
		expect(manifestFaults(manifest)).toEqual([]);
	});

	test('finds every required file in the tarball, and no other', () => {
		const all = [...loaded.nodes.map(({ file, description }) => ({ ...description, file })), ...loaded.credentials];
		expect(contentFaults(packed.files, manifest, all)).toEqual([]);
		expect(packed.bytes).toBeLessThan(360_000);
	});

	test('loads every node and credential with only the modules that n8n provides', () => {
		expect(loaded.nodes.map(({ description }) => description.name)).toContain('crmPlatform');
		expect(loaded.credentials).toHaveLength(manifest.n8n?.credentials?.length ?? -1);
	});

	test('finds no file that loads any other module, even later', () => {
		const scripts = globSync('**/*.js', { cwd: packed.unpacked });
		const sources = new Map(scripts.map((file) => [file, readFileSync(join(packed.unpacked, file), 'utf8')]));
		expect(sources.size).toBeGreaterThan(0);
		expect(importFaults(sources, packed.files)).toEqual([]);
	});
});
