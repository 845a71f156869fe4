import { serve } from "./process/serve.ts"

serve(process.env)
