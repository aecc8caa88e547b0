import type { INodeParameters, INodeType } from 'n8n-workflow';

import { CrmPlatform } from '../../nodes/CrmPlatform/CrmPlatform.node';
import { CrmPlatformAdmin } from '../../nodes/CrmPlatform/CrmPlatformAdmin.node';
import { CrmPlatformPollTrigger } from '../../nodes/CrmPlatform/CrmPlatformPollTrigger.node';
import { CrmPlatformSync } from '../../nodes/CrmPlatform/CrmPlatformSync.node';
import { CrmPlatformTrigger } from '../../nodes/CrmPlatform/CrmPlatformTrigger.node';
import { asCode, builderExamples } from '../../nodes/CrmPlatform/builderHints';
import { definitionOf } from './definition.ts';
import { run } from './n8n.ts';
import { sinceN8n } from './n8n-version.ts';
import { useSandbox } from './sandbox.ts';

const sandbox = useSandbox();

sinceN8n('2.41', () => {
	describe('What an AI builder reads of a node', () => {
		test.each([
			[new CrmPlatform(), 47_000],
			[new CrmPlatformAdmin(), 19_000],
			[new CrmPlatformSync(), 12_000],
			[new CrmPlatformTrigger(), 12_000],
			[new CrmPlatformPollTrigger(), 12_000],
		] as Array<[INodeType, number]>)('fits into its context: %#', (node, characters) => {
			expect(definitionOf(node).length).toBeLessThanOrEqual(characters);
		});

		test.each(builderExamples)('has a way that works to $task', async ({ parameters }) => {
			expect(definitionOf(new CrmPlatform())).toContain(asCode(parameters));
			const items = [{ mail: 'ada@acme.example', name: 'Ek' }];
			const { hints } = await run({ credential: sandbox.credential, parameters: parameters as INodeParameters, items });
			expect(hints).toEqual([]);
		});

		test('names every field that people fill in first, and what can be chosen', () => {
			expect(definitionOf(new CrmPlatform())).toContain('lifecycle_stage');
			expect(definitionOf(new CrmPlatform())).toContain('low|normal|high|urgent');
		});
	});
});
