/** First part of a company's name. */
export const companyNames = `
	Altamira Nordwind Bluepeak Ferrovia Lumina Kestrel Solara Terranova Brightwater Vantage
	Corvid Meridian Halcyon Ostara Pinnacle Riverbend Silverline Tamarind Umbra Verdant
	Westgate Zephyr Arbor Beacon Cobalt Delphi Ember Fjord Granite Harbor Indigo Juniper
	Kodama Larkspur Monarch Nimbus Orchard Polaris Quarry Redwood Sequoia Tundra Upland Violet
	Willow Yarrow Amberly Boreal Cascade Drift
`;

/** Second part of a company's name, with its industry. */
export const trades = `
	Logistics:logistics Freight:logistics Software:software Systems:software Foods:food Bakery:food Energy:energy
	Solar:energy Clinics:health Pharma:health Capital:finance Insurance:finance Hotels:hospitality
	Construction:construction Tools:manufacturing Machines:manufacturing Media:media Academy:education
	Farms:agriculture Outfitters:retail Furniture:retail Telecom:telecommunications
	Consulting:professional_services Legal:professional_services
`.trim().split(/\s+/).map((trade) => trade.split(':') as [string, string]);

export const jobTitles = [
	'Managing Director', 'Head of Purchasing', 'Operations Manager', 'IT Manager', 'Sales Representative', 'Office Manager',
	'Finance Director', 'Marketing Manager', 'Customer Success Lead', 'Software Engineer', 'Warehouse Supervisor',
	'HR Business Partner', 'Product Manager', 'Executive Assistant',
] as const;

export const leadSources = ['website', 'referral', 'event', 'advertising', 'partner', 'import'] as const;

/** Repeated in proportion to their frequency. */
export const stages = [
	'lead', 'lead', 'lead', 'marketing_qualified', 'sales_qualified', 'opportunity', 'customer', 'customer', 'customer',
	'former_customer',
] as const;
